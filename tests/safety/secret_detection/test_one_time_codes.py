"""Digits with a label: one-time codes, numeric tokens, cells of tables; and other numbers near such
labels."""

import re

import pytest

from safety.secret_detection.detect import find_secrets, redact_secrets
from tests.support.for_each import for_each

CODES = r"""
otp: 482911
OTP 482911
your otp is 482911
OTP code: 482911
one-time code: 482911
{"otp": "482911"}
otp = 482911
otp=482911
| otp | 482911 |
TOTP: 482911
totp: 482 911
2FA code: 482911
2fa: 482911
MFA code is 482911
verification code 482911
verification code: 482911
your verification code is 482911
482911 is your verification code
482911 is your WhatsApp code
code: 482911 (2FA)
verification: code 482911
login code: 482911
sign-in code 482911
authentication code: 482911
confirmation code: 482911
SMS code 482911
Use 482911 as your verification code
G-482911 is your Google verification code
Bestätigungscode: 482911
Bestätigungscode 482911
dein Bestätigungscode ist 482911
Sicherheitscode: 482911
Verifizierungscode lautet 482911
TAN: 482911
code de vérification : 482911
votre code de vérification est 482911
código de verificación: 482911
tu código de verificación es 482911
código de verificação: 482911
codice di verifica: 482911
код подтверждения: 482911
код подтверждения 482911
код из смс 482911
验证码：482911
验证码是482911
您的验证码为 482911
認証コード：482911
確認コードは482911です
인증번호: 482911
인증번호는 482911입니다
رمز التحقق: 482911
رمز التحقق هو 482911
सत्यापन कोड: 482911
ओटीपी 482911
kode verifikasi: 482911
kode OTP: 482911
doğrulama kodu: 482911
onay kodu 482911
mã xác minh: 482911
mã OTP: 482911
mã xác nhận là 482911
kod weryfikacyjny: 482911
код підтвердження: 482911
کد تایید: 482911
verificatiecode: 482911
verifieringskod: 482911
bekræftelseskode: 482911
ověřovací kód: 482911
קוד אימות: 482911
รหัสยืนยัน: 482911
code: 482911, 2FA
- otp: 482911
otp:\n  482911
otp\n482911
The code for the 2FA is 482911
2FA is 482911
my 2FA code for github is 482911
your code is 482911
Your Uber code is 482911. Never share this code.
Your login code: 482-911
Telegram code: 482911. Do not give this code to anyone
482 911 is your Instagram login code
Use code 482911 to verify your account
code=482911&type=otp
{"code": "482911", "type": "2fa"}
verification:\n  code: 482911
verificationCode: 482911
verification_code=482911
"otpCode": "482911",
OTP_CODE=482911
| 2FA code | 482911 |
2fa|482911
const otp = "482911";
otp = 482911;
<otp>482911</otp>
--otp 482911
npm publish --otp=482911
TAN 482911
meine TAN ist 482911
MFA 482911
Der Code für die Anmeldung ist 482911
Le code pour la connexion est 482911
El código para iniciar sesión (2FA) es 482911
Код: 482911. Никому не сообщайте
my verification code was 4829
here's the sms code: 482911
otp\n482911
""".strip().splitlines()
TOKENS = r"""
token: 482910377162
token = 482910377162
{"token": "482910377162"}
"token": 482910377162,
| token | 482910377162 |
token|482910377162
my token is 482910377162
secret: 482910377162
secret key 482910377162
mein Token ist 482910377162
mi token es 482910377162
мой токен 482910377162
токен: 482910377162
トークン：482910377162
令牌：482910377162
  token: '482910377162'
token    482910377162
token 482910377162
auth token 482910377162
token = "482910377162"
TOKEN=482910377162
set token 482910377162
token => 482910377162
secret is 482910377162
the secret for the api is 482910377162
""".strip().splitlines()
CELLS = r"""
| pin | 4829 |
pin|4829
passwd|hunter2x9
passwd|hunter2
password|hunter2
user|passwd|hunter2x9
""".strip().splitlines()
ORDINARY = r"""
token: 15
tokens: 1500000
token: 128000
token count: 4096
max_tokens: 4096
max_token: 4096000000
total tokens: 98765432
token 15
token 482911 was the slowest
tokens = 48291037
prompt token: 48291037
code: 404
error code 503
error code: 482911
status code: 404
exit code 137
zip code: 90210
zip code 90210
postal code: 482911
country code: 4915
product code: 482911
area code 2125
code 482911
code: 482911
pin: 3 on the connector
pin 12 is connected
pin: 1234 on the connector
port: 8080
GPIO pin: 2134
the verification code is 6 digits
a verification code of 6 digits
verification code expires in 300 seconds
verification code: 6 digits
verification code valid for 3000 seconds
otp expires in 3600 seconds
otp: 30 seconds
otp length: 6
otp timeout: 3600
otp_length = 60000
otp = 6
OTP_EXPIRY=3600
Erlang/OTP 26
Erlang OTP 27.1.2
OTP 25.3
erlang otp 2024
2FA since 2019
2FA: 2019
we enabled 2FA in 2023
2fa rollout 2024
TAN 2024
security code review 2024
security code: see page 4096
token_id: 482910377162
token id: 482910377162
next_token: 482910377162
page token: 482910377162
csrf token: 482910377162
eos_token_id: 128009
pad_token_id = 151643
token ids: 48291037
the token supply: 1000000000
token supply is 1000000000
token price is 48291037
The code review for verification took 2024 hours
code coverage 9512
code: 1234 lines
SMS 482911 sent
we sent 482911 SMS codes
error: verification code 403
verification failed with code 4031
verification failed: code 482911
auth code 401
authentication error code 482911
login code 200
login failed with code 4010
confirmation number 482911
order confirmation code
tan: 0.4829
a tan 4829
tan 2024
the key: 48291037
key: 48291037
order key: 48291037
user_id: 482910377162
secret: 42
security 2024
secret santa 2024
PASS: 12
passwd|shadow|group
root|passwd|shadow files
password | string | required
| password | varchar | 255 |
| token | 128000 | tokens |
| otp | 6 digits |
/etc/passwd|grep root
cat /etc/passwd|cut -d: -f1
passwd|x
user|password|email
authentication code path 4096
code 4829 lines of security
verification code 100 times
2FA codes: 10
backup codes: 10
token-2022
ERC-20 token 2022
Token-2022 program
token 2049
mean 95.13 tokens
security bulletin code 2024
pin: 2024-05-01
pin 4829 commits
pins: 1, 2, 3
pinned: 4829
PIN = 17
LED_PIN = 13
RESET_PIN 2134
#define LED_PIN 1234
pin: PA12
OTP bank 2024
otp bank shares 4829
Access code 7 appears
the token supply is 4829103771 coins
token address 482910377162
token id 482910377162
token ID: 482910377162
tokens: 482910377162
total tokens 482910377162
token count is 482910377162
the model used 482910 tokens
used token: 48291
token: 1500000
token budget: 200000
{"prompt_tokens": 48291037, "completion_tokens": 15}
"token": 15,
token|15
| token | 15 |
code 404 from the login page
login returned code 200
error code: 482911 during login
verification failed with code 482911
security update code 482911 failed
postal code 482911
zip code: 482911 (verify)
my verification took 482911 ms
source code of the login page has 482911 lines
login code has 482911 lines
the code for login is 2500 lines
code 2026 security conference
country code 4915 for sms
2FA is used by 482911 people
verification code: 482911 attempts
order code 482911 confirmed by sms
tan(482911)
otp 26.2
MFA: 2024 report
please check code 1234 of the security policy
http code 5000 on login
code: 12345678 lines verified
mã 482911
kod 482911
kode pos: 482911
cod 482911
code: 48291 verification
pin|string
pin|1|ground
| pin | 12 | GPIO |
| pin | gpio | 1234 |
port|8080
/etc/passwd|base64x1
cat /etc/passwd | python3
password|varchar2
password|required1
security code of conduct 2024
the secret ingredient is 42
secret santa: 482911
confirmation number: 482911
Your reservation code: 482911
your member code is 482911
Your invoice code: 20241122
account code 600100, please confirm
job code 482911 confirm by Friday
Votre code client est 482911
votre code d'erreur : 482911
tu código postal: 482911
код ошибки 482911 при входе
Код товара 482911 вход
Ваш код клиента: 482911
482911 - ваш код заказа
mã lỗi 482911 khi đăng nhập
kode pesanan 482911 masuk
验证码错误次数 123456
验证码有效期：3600
認証コードの回数 123456
your code: 200000 rows
your code is 482911 USD
ton code est 482911 lignes
dein Code ist 482911 Zeilen lang
tu código es 482911 líneas
твой код — 482911 строк
код из смс приходит 3600 раз
TAN 482911 mal abgefragt
验证码共 482911 条
本日の認証コードは 482911 件
인증번호 482911건 발송
confirmation of order 482911
SMS: 482911 sent today
access code review 482911
the authentication code in line 4829 is broken
authentication code, 4829 lines
auth code is 4829 lines long
verification code path: 4829
one time 482911 people came
""".strip().splitlines()
_SECRET = re.compile(r"\d{3}|hunter2")


def written(line: str) -> str:
    """The text of a line above, which has its breaks and tabs as escapes."""
    return line.replace("\\n", "\n").replace("\\t", "\t")


@for_each("line", [*CODES, *TOKENS, *CELLS])
def test_named_digits_are_removed(line: str) -> None:
    left = redact_secrets(written(line)).text
    assert "[SECRET_REDACTED]" in left
    assert _SECRET.search(left) is None


@for_each("line", ORDINARY)
def test_other_numbers_are_kept(line: str) -> None:
    assert redact_secrets(written(line)).text == written(line)


@pytest.mark.parametrize("code", ["4829", "48291", "482911", "48291103", "482 911", "482-911"])
def test_a_code_is_removed_completely(code: str) -> None:
    text = f"the verification code is {code}, thanks"
    (finding,) = find_secrets(text)
    assert (finding.kind.name, text[finding.start : finding.end]) == ("one_time_code", code)


@for_each("count", ["15", "4096", "128000", "1500000", "48291037", "1000000000"])
@for_each("line", ["token: {}", "tokens: {}", '"token": {},', "token|{}"])
def test_a_number_of_tokens_is_kept(count: str, line: str) -> None:
    assert redact_secrets(line.format(count)).text == line.format(count)
