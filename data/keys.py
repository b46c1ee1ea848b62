"""The master key, and what is kept encrypted under it.

Invariant: neither a key nor what it protects appears in an error, a repr or a log. The key lies
outside the database: in VERBATIM_MASTER_KEY, or in a file of its own that only its owner reads.
"""

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from data.errors import StoreError
from data.home import prepare_home

KEY_NAME = "master.key"
"""The key file in the home directory."""

VARIABLE = "VERBATIM_MASTER_KEY"

_DEFAULT_PORTS = {"http": 80, "https": 443}
_ENTER_AGAIN = "or enter the secret again"


class KeyLost(StoreError):
    """Something encrypted cannot be read: its key is missing, or is another one."""


class WrongOrigin(KeyLost):
    """A key was entered for one server and asked for on the way to another."""


class KeyRing:
    """Encrypts with the first key and decrypts with any.

    Where there is no key yet, the first `encrypt` makes one and keeps it in the key file.
    """

    def __init__(self, path: Path, fernet: MultiFernet | None, *, source: str) -> None:
        self._path = path
        self._fernet = fernet
        self._source = source

    def encrypt(self, plain: str) -> str:
        """Ciphertext as printable ASCII. Raises StoreError if a new key cannot be kept."""
        if self._fernet is None:
            self._fernet = _create(self._path)
        return self._fernet.encrypt(plain.encode()).decode()

    def decrypt(self, token: str) -> str:
        """What was encrypted. Raises KeyLost."""
        if self._fernet is None:
            raise KeyLost(
                f"A secret is kept encrypted, but {self._path} is missing and {VARIABLE} is not "
                "set.",
                remedy=f"Put the key file back or set {VARIABLE} to its content, {_ENTER_AGAIN}.",
            )
        try:
            return self._fernet.decrypt(token.encode()).decode()
        except (InvalidToken, UnicodeEncodeError):
            pass
        # Raised out here so that no traceback shows the ciphertext's trouble.
        raise KeyLost(
            f"A secret was encrypted with another key than the one in {self._source}, or it is "
            "damaged.",
            remedy=f"Add the former key behind the present one in {self._source}, {_ENTER_AGAIN}.",
        )

    def encrypt_for(self, url: str, plain: str) -> str:
        """As `encrypt`, bound to the origin of `url`: `decrypt_for` gives it to no other."""
        return self.encrypt(json.dumps([origin(url), plain]))

    def decrypt_for(self, url: str, token: str) -> str:
        """What was encrypted for the origin of `url`. Raises WrongOrigin, or KeyLost."""
        bound, plain = _bound_pair(self.decrypt(token))
        if bound != origin(url):
            raise WrongOrigin(
                f"A key was entered for {bound} and is not sent to {origin(url)}.",
                remedy="Enter the key for the new address.",
            )
        return plain


def open_keys(home: Path, environ_value: str | None) -> KeyRing:
    """The ring of the keys in `environ_value`, or else of those in the home's key file.

    Several keys, separated by commas or white space, serve rotation: the first one encrypts.
    Raises StoreError if what stands there is no key.
    """
    path = home / KEY_NAME
    if environ_value and environ_value.strip():
        return KeyRing(path, _ring(environ_value, VARIABLE), source=VARIABLE)
    written = _read(path)
    fernet = None if written is None else _ring(written, str(path))
    return KeyRing(path, fernet, source=str(path))


def origin(url: str) -> str:
    """Scheme, host and port: what decides to whom a request goes."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}:{port}"


def _ring(written: str, source: str) -> MultiFernet:
    try:
        keys = [Fernet(key) for key in written.replace(",", " ").split()]
        return MultiFernet(keys)
    except ValueError:  # not 32 bytes of base64, or none at all
        pass
    raise StoreError(
        f"{source} holds no usable key.",
        remedy="It must be 32 random bytes in URL-safe base64, several keys separated by commas. "
        "Put the right one back; without it what is encrypted must be entered again.",
    )


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror}.",
            remedy="Give the user that runs Verbatim the right to read it.",
        ) from error


def _create(path: Path) -> MultiFernet:
    """A new key, on the disk before anything is encrypted with it."""
    prepare_home(path.parent)
    key = Fernet.generate_key()
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:  # another process was faster
        return _ring(_read(path) or "", str(path))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}.",
            remedy=f"Give the user that runs Verbatim the right to write there, or set {VARIABLE}.",
        ) from error
    return MultiFernet([Fernet(key)])


def _bound_pair(content: str) -> tuple[str, str]:
    """The origin and the secret, as `encrypt_for` put them together."""
    try:
        match json.loads(content):
            case [str(bound), str(plain)]:
                return bound, plain
            case _:
                pass
    except ValueError:
        pass
    raise KeyLost(
        "A key was encrypted without the address that it is for.", remedy="Enter the key again."
    )
