"""Secrets that a sentence gives."""

from __future__ import annotations

from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

TOLD = {
    "The password is @, please keep it.": "swordfisher",
    "the admin password for staging is @ and the user is bob": "Harbor1991$",
    "I changed the root password to @ yesterday.": "velvetlantern",
    "log in as bob with password @": "LanternHarbor336",
    "use `bob` and the password `@` to sign in": "velvetlantern",
    "Please use the following password to go on:\n\n@\n": "9e7f04112d5fec55c283d9097da7519f",
    "Your app password: @": "qezf vidu otsw yirm",
    "the pin for the vault is @": "823427",
    "Your verification code is @.": "377665",
    "Enrollment token for kibana: @": "mMKs1Pw3KqtVSz7J7g3eoDJQL9JUItjd07gtZ0lT",
    "here's the token: @": "276599da5fdac34a0a583fe985892910f7d9dc21",
    "use this key for the API @ thanks": "oJ_YRfnly5s8SEtWYKeLlCAyNFR3Od4032YM7t0Wwl8",
    "Recovery Key: @": "416023-062004-789573-997529-234650-973362-372726-577281",
    "creds for the db are bob:@": "y3ll0w_quartz!11",
    "seed phrase: @": "cookie summer noodle orchid tiger dragon shadow thunder bishop zebra correct rabbit",
    "Das Passwort für den Server ist @, Benutzer bob.": "Freude12!blume",
    "Benutzername bob, Kennwort @": "rUV34RpAHF4",
    "Der API-Schlüssel ist @": "0zchnRNbHWtawxf7BdRdCWfYUBNHin4D",
    "Le mot de passe est @": "velvetlantern",
    "try @ as the password": "Harbor1991$",
    "I used '@' as the master password": "velvetlantern",
    "The password has been changed to @.": "Harbor1991$",
    "The db password's @": "Harbor1991$",
    "(pw @)": "Harbor1991$",
    "You can log in with bob / @ there": "Harbor1991$",
    'The passphrase for the key is "@"': "thunder turtle marble coffee",
    "I rotated the API token, the new one is @": "94Uz66djIXqvnN2fWU2ytwfnatnjtXeh2VlR9so6",
    "G-@ is your Google verification code.": "976457",
    "Ich habe das Kennwort auf @ geändert": "Harbor1991$",
    "パスワードは@です": "Harbor1991x",
    "la clave del wifi es @": "m4rbl3_coffee!31",
}
SAID = """
The password is too short.
the password is stored as a hash
The secret is mounted at /run/secrets/db.
the token is invalid or expired
The password for the staging host is in the vault
I changed the password hashing to argon2
Use password authentication instead of keys.
password to access the database
The passphrase is case-sensitive
Das Passwort ist ungültig
Le mot de passe est obligatoire.
La contraseña es incorrecta
the pin is connected to ground
PIN 13 OUTPUT
recovery codes are shown once
the password policy is strictest
def rotate(token: typing.Union[bytes, str])
the password is SHA256
Reset the password to continue.
password: z.string().min(8)
use it as the default
Passwort: erforderlich
Пароль: обязательное поле
A senha é obrigatória
spin: 1200
with password authentication2
"""


@each("text", list(TOLD))
def test_what_a_sentence_gives_is_found(text: str) -> None:
    assert TOLD[text] not in scrubbed(text.replace("@", TOLD[text]))


@each("text", SAID.strip().split("\n"))
def test_what_a_sentence_says_of_a_secret_stays(text: str) -> None:
    assert scrubbed(text) == text


def test_each_code_of_a_list_is_found() -> None:
    clean = scrubbed("Recovery codes:\n  inghz-fhk83\n  jup3c-4eoo0\n\nKeep them in a safe place.")
    assert clean == "Recovery codes:\n  ‹secret:recovery-code›\n  ‹secret:recovery-code›\n\nKeep them in a safe place."
