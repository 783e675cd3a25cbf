"""Passwords in the options and arguments of programs, and options that are none."""

from safety.secret_detection.detect import redact_secrets
from tests.support.for_each import for_each

PASSWORD = "Tr0ub4dor9x"
COMMANDS = r"""
mysql -u root -p{} shop
mysqldump -u root --password={} shop
sshpass -p {} ssh bob@a.example
sshpass -p'{}' ssh bob@a.example
psexec \\host -u admin -p {} cmd
C:\tools\PsExec64.exe \\host -u DOM\bob -p {} cmd
plink -ssh bob@a.example -pw {}
pscp -pw {} a bob@a.example:
net use Z: \\srv\share {} /user:bob
net use \\srv\ipc$ /user:bob {}
net user bob {} /add
ldapsearch -x -D cn=admin -w {} -b dc=x
redis-cli -h a.example -a {}
smbclient //srv/x -U bob%{}
rpcclient -U "bob%{}" srv
curl -u bob:{} https://a.example
curl -u {}: https://a.example
curl -u ":{}" https://a.example
curl --user '{}:' https://a.example
curl -k -X POST \
  -d 'a' \
  -u bob:{}
http -a bob:{} a.example
docker login -u bob -p {} registry.example
mongosh -u bob -p {} shop
sqlcmd -S srv -U sa -P {}
sqlplus bob/{}@db1
unzip -P {} a.zip
7z x a.7z -p{}
snmpwalk -v3 -u bob -A {} host
xfreerdp /u:bob /p:{} /v:host
cmdkey /add:srv /user:bob /pass:{}
schtasks /create /ru bob /rp {}
keytool -list -storepass {}
echo {} | sudo -S apt update
echo "bob:{}" | chpasswd
rabbitmqctl add_user bob {}
wpa_passphrase home {}
vault login {}
aws configure set aws_secret_access_key {}
""".strip()


def commands() -> list[str]:
    whole: list[str] = []
    for line in COMMANDS.splitlines():
        if line.startswith(" "):
            whole[-1] += f"\n{line}"
        else:
            whole.append(line)
    return whole


@for_each("command", commands())
def test_a_password_in_a_command_is_removed(command: str) -> None:
    left = redact_secrets(command.replace("{}", PASSWORD)).text
    assert left == command.replace("{}", "[SECRET_REDACTED]")


@for_each(
    "text",
    [
        *("ssh -p 2222 bob@a.example", "docker run -p 8080:80 -u 1000:1000 nginx", "mkdir -p a/b"),
        *("mysql -u root -p shop", "curl -u $USER:$PASS a.example", "curl -u '<user:password>' a"),
        *(
            "psexec \\\\host -u bob -p %PW% cmd",
            'sshpass -p "$PW" ssh a',
            "git push -u origin main",
        ),
        *(
            "curl -u bob https://a.example:8080/x",
            "net use Z: \\\\srv\\share",
            "net user bob /delete",
        ),
        *(
            "tar -xpf a.tar",
            "cp -p source target",
            "redis-cli -a $REDIS_PASS",
            "echo hello | grep h",
        ),
        *("7z a -p archive.7z", "zip -r a.zip folder", "the -p option sets the port"),
    ],
)
def test_other_options_are_kept(text: str) -> None:
    assert redact_secrets(text).text == text
