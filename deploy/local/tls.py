"""A certificate authority of the cluster's own, and a certificate for each broker and one client."""

import os
import subprocess

from .proc import Trouble


def _openssl(*args):
    done = subprocess.run(["openssl", *args], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Trouble(f"openssl {args[0]}: {done.stderr.strip().splitlines()[-1:]}")


def make(directory, names, host):
    """Fills directory with ca.pem and, per name, name.pem (key and certificate), unless there."""
    os.makedirs(directory, exist_ok=True)
    ca, ca_key = os.path.join(directory, "ca.pem"), os.path.join(directory, "ca.key")
    if not os.path.exists(ca):
        _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj",
                 "/CN=Klamm local cluster", "-keyout", ca_key, "-out", ca)
    for name in names:
        pem = os.path.join(directory, name + ".pem")
        if os.path.exists(pem):
            continue
        key, request, cert, ext = (os.path.join(directory, name + end)
                                   for end in (".key", ".csr", ".crt", ".ext"))
        with open(ext, "w", encoding="utf-8") as f:
            f.write(f"subjectAltName=DNS:localhost,IP:{host}\n")
        _openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key,
                 "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
                 "-days", "3650", "-extfile", ext, "-out", cert)
        _concatenate(pem, key, cert)
        for part in (key, request, cert, ext):
            os.unlink(part)


def _concatenate(target, *parts):
    handle = os.open(target + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as out:
        for part in parts:
            with open(part, "rb") as f:
                out.write(f.read())
    os.replace(target + ".new", target)
