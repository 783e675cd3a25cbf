"""Words that say how a password, a key or a token is, and so are none: "my password is wrong",
"mein Passwort ist abgelaufen", "la contraseña es obligatoria".

They stand where the password itself stands in "my password is swordfish". A language forms most of
them with few endings; the others are listed.
"""

import re
import unicodedata
from typing import Final

_ABOUT_PASSWORDS: Final = """
    about above access accepted again already also always another associated available based
    because been before being below between both cannot case changed characters check checked
    compromised correct created default different disabled does encrypted enabled enough entered
    even exactly expired failed field file first forgotten form found generated given good hashed
    have help here however incorrect input instead invalid just known later length like located
    login longer lost match matched minimum missing must need needed never only option optional
    other over passed please policy possible prompt protected provided required reset right safe
    same saved secure secured sent sentence set should shown simple since something specified
    still stored strength strong such sure system taken than that their them then there these they
    this those through today tomorrow type typed unchanged under unique unknown unless until
    updated used user users using valid validated value verified very visible weak well were what
    when where whether which while will with within without word words work working would wrong
    written yours falsch richtig abgelaufen gespeichert unbekannt notwendig erforderlich sicher
    incorrect incorrecte incorrecta obligatoire requis requise oublié valide invalide correcto
    correcta incorrecto obligatorio requerido requerida necesario segura seguro olvidada vencida
"""
_OF_ENGLISH: Final = """
    temporary broken public ready awesome terrible awful gone lost yours mine hidden empty
    different blank bad better best great fine nice cool easy hard tough complex complicated
    important private personal secret sacred leaked stolen dead fresh ours theirs active inactive
    enabled alphanumeric encrypted invalid numeric similar identical ancient obvious guessable
    horrible perfect unclear impossible pending revoked rotated replaced rejected refused denied
    cached hashed salted opaque communication patience simplicity practice timing consistency
    honesty love trust hope nothing everything anything something nowhere everywhere outside
    inside somewhere elsewhere here online offline available unavailable readable sensitive
    insensitive case-sensitive
"""
_OF_GERMANIC: Final = """
    geheim sicher unsicher schwach stark kurz lang einfach schwer weg kaputt leer alt neu gut
    schlecht richtig falsch gleich anders privat öffentlich wichtig fertig bereit verloren egal
    komplex simpel geduld liebe zwak sterk onjuist juist fout goed slecht kwijt leeg nieuw oud
    geheim veilig onveilig kort lang verplicht vereist moeilijk makkelijk svagt starkt fel rätt
    borta tomt nytt gammalt bra dåligt hemligt säkert osäkert ogiltigt giltigt forkert svag stærk
    hemmelig ugyldig gyldig feil svakt hemmelig riktig udløbet utløpt obligatorisk väärä heikko
    vahva vanha uusi salainen tyhjä
"""
_OF_ROMANCE: Final = """
    débil fuerte segura seguro secreta secreto antigua nueva vieja corta larga fácil difícil
    privada pública mala buena igual distinta diferente simple compleja errónea inválida válida
    correcta simples fraca forte curta longa velha nova errada certa boa ruim pública privada
    inválida válida igual debole sicura segreta vecchia nuova corta lunga facile difficile giusta
    valida nulla vuota persa faible fort sûr perdu connu inconnu long court simple ancien
    nouveau mauvais bon vide correct slabă puternică greșită corectă goală veche nouă
"""
_OF_SLAVIC: Final = """
    sekret tajemnica tajne puste stare nowe dobre złe секрет тайна устарел истёк истек утерян
    украден слаб неверен верен пуст прост сложен короткий потерян забыт изменён изменен tajné
    staré nové slabé silné špatné neplatné
"""
_OF_OTHERS: Final = """
    yanlış doğru zayıf güçlü eski yeni gizli boş geçersiz geçerli zorunlu salah benar lemah kuat
    lama baru rahasia kosong sulit mudah hilang wajib gyenge erős rossz hibás helyes régi titkos
    üres kötelező λάθος σωστό αδύναμο
"""
_STATES: Final = frozenset(
    unicodedata.normalize("NFC", word)
    for words in (
        *(_ABOUT_PASSWORDS, _OF_ENGLISH, _OF_GERMANIC, _OF_ROMANCE, _OF_SLAVIC),
        _OF_OTHERS,
    )
    for word in words.split()
)
_ENDINGS: Final = re.compile(
    r"(?:ing|able|ible|tion|ment|ness|ly|ed|less|ful|ous|ive|ary"
    r"|lich|bar|los|haft|iert|pflichtig|isch|loos|baar"
    r"|[ai]d[oa]s?|[aiu]t[oa]|[óá]ri[oa]|ável|ível|bile|iv[oa]"
    r"|ée?s?|eux|euse|oire"
    r"|[ыио]й|[её]н[оа]?|ан[оа]?|тый|но|лся|лась"
    r"|gt|igt|nen|lis|lik|siz|sız|suz|süz)\Z"
)
"""Endings of participles and adjectives: English, German and Dutch, Spanish, Portuguese and
Italian, French, Russian and Ukrainian, the Nordic languages, Finnish, Turkish."""
_SLAVIC: Final = re.compile(r"(?:[nwłtbk][eyéí]|sk[ie])\Z")
"""Those of Polish, Czech and Slovak, in which many an English word ends."""
_SLAVIC_LABELS: Final = ("has", "hesl", "klucz", "klíč", "kľúč", "sekret")
_FORMED: Final = re.compile(r"(?:un|ge|ver|ab|be|zer|ent|on|über)\w{2,}(?:[td]|en|ig)\Z")
"""German and Dutch: "gestohlen", "vergessen", "ungültig"."""
_SHORTEST: Final = 5


def says_how_it_is(word: str, label: str = "") -> bool:
    """Return True for such a word behind a label, both in small letters."""
    if word in _STATES:
        return True
    if len(word) < _SHORTEST:
        return False
    if label.startswith(_SLAVIC_LABELS) and _SLAVIC.search(word) is not None:
        return True
    return _ENDINGS.search(word) is not None or _FORMED.match(word) is not None
