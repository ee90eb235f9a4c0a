"""A second verifier of Sallyport evidence, in Python's standard library alone.

Written from the description in the README, sharing no code with the first: where the two disagree, one of them is
wrong. Reads lines of JSON {"evidence": ..., "keys": ...} and writes for each a line {axis: outcome}; evidence as a text is
the file itself.
"""

import base64
import binascii
import datetime
import functools
import hashlib
import json
import re
import sys

AXES = ["format", "authenticity", "integrity", "inclusion", "consistency", "completeness", "disclosure", "policy_replay", "time"]
MEDIA_TYPE = "application/vnd.sallyport.evidence+json;version=1"
ANCHORED_TYPE = "application/vnd.sallyport.evidence+json;version=2"
PAYLOAD_TYPE = "application/vnd.sallyport.attestation+json"
SUCCESSION_TYPE = "application/vnd.sallyport.key-succession+json"
MAX = 2**53 - 1
MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
# Of Unicode, as it was when the form was made.
SPACES = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
HEX = r"[0-9a-f]{64}"
STATEMENTS = {
    "proves": [
        "The service that holds the signing key recorded these claims, findings and decisions, in this order.",
        "The records were in its log when the checkpoint was signed and have not been changed, moved or removed since.",
        "Each decision follows from the policy in this file; each finding was made with the data sets named in it.",
    ],
    "does_not_prove": [
        "Where a person was. An address is not a person, and the country and class of an address are estimates with the confidence that is recorded.",
        "When a record was made, beyond the word of the service: its own clock wrote the time. A checkpoint that you kept earlier bounds it.",
        "That everything the service saw was recorded.",
    ],
    "how_to_verify": "sallyport evidence verify FILE --keys KEYS, offline. Take the keys from the service itself, not from this file.",
}

ANCHORED_STATEMENTS = {
    **STATEMENTS,
    "does_not_prove": [
        STATEMENTS["does_not_prove"][0],
        "When a record was made, beyond the word of the service: its own clock wrote the time. A timestamp or cosignature in this file, or a checkpoint that you kept earlier, bounds it.",
        STATEMENTS["does_not_prove"][2],
    ],
    "how_to_verify": STATEMENTS["how_to_verify"] + " --timestamp-ca CERTIFICATES and --witness KEY name the authorities of time and the witnesses that you trust.",
}


class Malformed(Exception):
    pass


# Reading


def need(condition):
    if not condition:
        raise Malformed()


def obj(value):
    need(isinstance(value, dict))
    return value


def only(value, *names):
    need(all(name in names for name in obj(value)))
    return value


def moment(value):
    need(moment_ms(text(value, MOMENT)) is not None)
    return value


def lst(value):
    need(isinstance(value, list))
    return value


def text(value, form=None):
    need(isinstance(value, str))
    need(not any(0xD800 <= ord(c) <= 0xDFFF for c in value))
    need(form is None or re.fullmatch(form, value))
    return value


def integer(value):
    need(isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX)
    return value


def b64(value, length=None):
    data = decode64(text(value))
    need(data and (length is None or len(data) == length))
    return data


def decode64(value):
    """The bytes, or None unless it is exactly the standard encoding of them."""
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == value else None


def parse_json(source):
    def number(written):
        value = float(written)
        return int(value) if value.is_integer() and abs(value) <= MAX else value

    def constant(_):
        raise ValueError("not JSON")

    def members(pairs):
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a member is there twice")
        return found

    return json.loads(source, parse_float=number, parse_constant=constant, object_pairs_hook=members)


def canonical(value, depth=32):
    need(depth >= 0)
    if isinstance(value, str):
        need(not any(0xD800 <= ord(c) <= 0xDFFF for c in value))
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX:
        return str(value)
    need(isinstance(value, dict))
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(canonical(key) + ":" + canonical(value[key], depth - 1) for key in keys) + "}"


def read_attestation(payload):
    try:
        source = payload.decode()
        value = parse_json(source)
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise Malformed()
    need(canonical(value) == source)
    record = obj(value)
    need(integer(record.get("v")) == 1 and text(record.get("type")) == "provenance")
    for name in ("attestation_id", "seq"):
        integer(record.get(name))
    text(record.get("log"))
    moment(record.get("issued_at"))
    text(record.get("prev"), HEX)
    finding, policy, basis = (obj(record.get(name)) for name in ("finding", "policy", "basis"))
    integer(finding.get("confidence_bp"))
    text(policy.get("id"))
    text(basis.get("engine"))
    text(obj(record.get("claim")).get("jurisdiction"))
    text(finding.get("network_origin"))
    text(finding.get("anonymized"), "yes|no")
    text(finding.get("method"))
    if "country" in finding:
        text(finding["country"])
    text(policy.get("sha256"), HEX)
    text(policy.get("action"))
    text(policy.get("reason"))
    text(basis.get("datasets_sha256"), HEX)
    text(obj(record.get("subject")).get("commit"), HEX)
    if "context_sha256" in record:
        text(record["context_sha256"], HEX)
    return record


def read_checkpoint(source):
    split = source.find("\n\n")
    need(split != -1 and source.endswith("\n"))
    body = source[: split + 1]
    lines = body[:-1].split("\n")
    need(len(lines) == 3 and lines[0] != "" and re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1]))
    size = int(lines[1])
    root = decode64(lines[2])
    need(size <= MAX and root is not None and len(root) == 32)
    signatures = []
    for line in source[split + 2 : -1].split("\n"):
        match = re.fullmatch("\u2014 ([^+%s]+) ([A-Za-z0-9+/=]+)" % SPACES, line)
        data = match and decode64(match[2])
        need(data and len(data) >= 5)
        signatures.append((match[1], data[:4], data[4:]))
    return {"origin": lines[0], "size": size, "root": root, "body": body.encode(), "signatures": signatures}


def read_keys(value):
    keys = []
    need(len(lst(obj(value).get("keys"))) <= 1000)
    for key in value["keys"]:
        obj(key)
        if text(key.get("kty")) != "OKP" or text(key.get("crv")) != "Ed25519":
            continue
        x = text(key.get("x"))
        try:
            public = base64.urlsafe_b64decode(x + "=" * (-len(x) % 4))
        except (binascii.Error, ValueError):
            raise Malformed()
        need(len(public) == 32 and base64.urlsafe_b64encode(public).decode().rstrip("=") == x)
        read = {"kid": text(key.get("kid")), "public": public, "x": x, "nbf": integer(key.get("nbf"))}
        for name in ("exp", "revoked_at"):
            if name in key:
                read[name] = integer(key[name])
        if "replaces" in key:
            read["replaces"] = text(key["replaces"])
            read["succession"] = b64(key.get("succession"), 64)
        keys.append(read)
    return keys


def read_own_keys(value, origin):
    only(value, "origin", "keys")
    need(text(value.get("origin")) == origin)
    for key in lst(value.get("keys")):
        only(key, "kty", "crv", "alg", "use", "kid", "x", "vkey", "nbf", "exp", "revoked_at", "replaces", "succession")
        need((key.get("kty"), key.get("crv"), key.get("alg"), key.get("use")) == ("OKP", "Ed25519", "EdDSA", "sig"))
        need("succession" not in key or "replaces" in key)
    keys = read_keys(value)
    for key, given in zip(keys, value["keys"]):
        thumbprint = sha256(('{"crv":"Ed25519","kty":"OKP","x":"%s"}' % key["x"]).encode())
        need(key["kid"] == base64.urlsafe_b64encode(thumbprint).decode().rstrip("="))
        name = sha256(origin.encode() + b"\n\x01" + key["public"])[:4].hex()
        need(text(given.get("vkey")) == "%s+%s+%s" % (origin, name, base64.b64encode(b"\x01" + key["public"]).decode()))
    for before, key, after in zip([{}] + keys, keys, keys[1:] + [{}]):
        need(key.get("replaces") == before.get("kid"))
        need(key.get("exp") == after.get("nbf"))
        need("revoked_at" not in key or key["revoked_at"] == key.get("exp"))
    return keys


def read_hashes(value):
    return [b64(entry, 32) for entry in lst(value)]


def read_documents(value):
    return [(text(only(entry, "sha256", "text").get("sha256"), HEX), text(entry.get("text"))) for entry in lst(value)]


def read_neighbor(value):
    only(value, "seq", "leaf_hash", "hashes")
    return {"seq": integer(value.get("seq")), "leaf": b64(value.get("leaf_hash"), 32), "path": read_hashes(value.get("hashes"))}


def read_record(value):
    only(value, "attestation_id", "seq", "dsse", "inclusion", "disclosure")
    envelope = only(value.get("dsse"), "payloadType", "payload", "signatures")
    need(text(envelope.get("payloadType")) == PAYLOAD_TYPE)
    payload = b64(envelope.get("payload"))
    signatures = [(text(only(s, "keyid", "sig").get("keyid")), b64(s.get("sig"), 64)) for s in lst(envelope.get("signatures"))]
    need(len(set(kid for kid, _ in signatures)) == len(signatures))
    shown = only(value.get("disclosure"), "state", "ip", "salt", "request_context")
    disclosure = None
    need(shown.get("state") != "erased" or len(shown) == 1)
    if text(shown.get("state"), "disclosed|erased") == "disclosed":
        disclosure = (text(shown.get("ip")), b64(shown.get("salt"), 32), text(shown["request_context"]) if "request_context" in shown else None)
    return {
        "id": integer(value.get("attestation_id")),
        "seq": integer(value.get("seq")),
        "payload": payload,
        "record": read_attestation(payload),
        "signatures": signatures,
        "path": read_hashes(only(value.get("inclusion"), "hashes").get("hashes")),
        "disclosure": disclosure,
    }


def read_anchor(value):
    only(value, "checkpoint", "hashes", "timestamps", "cosignatures")
    stamps = lst(value.get("timestamps"))
    need((stamps or "cosignatures" in value) and len(stamps) <= 16)
    for stamp in stamps:
        text(only(stamp, "authority", "response").get("authority"))
        b64(stamp.get("response"))
    note = text(value.get("checkpoint"))
    plain = read_checkpoint(note)
    cosigned = read_checkpoint(note + text(value["cosignatures"])) if "cosignatures" in value else plain
    need(len(cosigned["signatures"]) <= len(plain["signatures"]) + 16)
    return cosigned, read_hashes(value.get("hashes"))


def read_witness(vkey):
    match = re.fullmatch("([^+%s]+)\\+([0-9a-f]{8})\\+([A-Za-z0-9+/=]+)" % SPACES, vkey)
    key = match and decode64(match[3])
    need(key and len(key) == 33 and key[0] == 4)
    need(sha256(match[1].encode() + b"\n" + key)[:4].hex() == match[2])
    return (match[1], bytes.fromhex(match[2])), key[1:]


def read_evidence(value):
    kind = text(obj(value).get("media_type"))
    need(kind in (MEDIA_TYPE, ANCHORED_TYPE))
    anchored = kind == ANCHORED_TYPE
    only(
        value,
        *("media_type", "created_at", "origin", "log", "query", "records", "neighbors", "checkpoint", "consistency"),
        *("keys", "policies", "datasets", "statements"),
        *(("anchors", "unanchored") if anchored else ()),
    )
    need(value.get("statements") == (ANCHORED_STATEMENTS if anchored else STATEMENTS))
    anchors = [read_anchor(entry) for entry in lst(value.get("anchors"))] if anchored else []
    need(len(anchors) <= 16)
    if "unanchored" in value:
        text(value["unanchored"])
    records = [read_record(entry) for entry in lst(value.get("records"))]
    need(1 <= len(records) <= 1000)
    query = obj(value.get("query"))
    if "attestation_id" in query:
        integer(only(query, "attestation_id")["attestation_id"])
    else:
        moment(only(query, "from", "to").get("from"))
        moment(query.get("to"))
    neighbors = only(value.get("neighbors"), "previous", "next")
    earlier = None
    if "consistency" in value:
        part = only(value["consistency"], "checkpoint", "hashes")
        earlier = (read_checkpoint(text(part.get("checkpoint"))), read_hashes(part.get("hashes")))
    return {
        "created": moment_ms(moment(value.get("created_at"))),
        "origin": text(value.get("origin")),
        "log": text(value.get("log")),
        "query": query,
        "records": records,
        "previous": read_neighbor(neighbors["previous"]) if "previous" in neighbors else None,
        "next": read_neighbor(neighbors["next"]) if "next" in neighbors else None,
        "checkpoint": read_checkpoint(text(value.get("checkpoint"))),
        "earlier": earlier,
        "anchors": anchors,
        "keys": read_own_keys(value.get("keys"), text(value.get("origin"))),
        "policies": read_documents(value.get("policies")),
        "datasets": read_documents(value.get("datasets")),
    }


# Hashes and trees (RFC 6962, RFC 9162)


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(data):
    return sha256(b"\x00" + data)


def node_hash(left, right):
    return sha256(b"\x01" + left + right)


def root_of_path(leaf, index, size, path):
    if index >= size:
        return None
    node, fn, sn = leaf, index, size - 1
    for sibling in path:
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            node = node_hash(sibling, node)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = node_hash(node, sibling)
        fn, sn = fn >> 1, sn >> 1
    return node if sn == 0 else None


def consistent(old, new, proof):
    size, later = old["size"], new["size"]
    if size < 1 or size > later:
        return False
    if size == later:
        return not proof and old["root"] == new["root"]
    if size & (size - 1) == 0:
        proof = [old["root"]] + proof
    if not proof:
        return False
    fn, sn = size - 1, later - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = proof[0]
    for sibling in proof[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node_hash(sibling, fr), node_hash(sibling, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node_hash(sr, sibling)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and fr == old["root"] and sr == new["root"]


# Ed25519 (RFC 8032, section 6)

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
I = pow(2, (P - 1) // 4, P)


def point_add(a, b):
    x = (a[1] - a[0]) * (b[1] - b[0]) % P
    y = (a[1] + a[0]) * (b[1] + b[0]) % P
    z = 2 * a[3] * b[3] * D % P
    w = 2 * a[2] * b[2] % P
    e, f, g, h = y - x, w - z, w + z, y + x
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_mul(scalar, point):
    total = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = point_add(total, point)
        point = point_add(point, point)
        scalar >>= 1
    return total


def point_read(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= P:
        return None
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * I % P
    if (x * x - xx) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def same_point(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


BASE = point_read((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


@functools.lru_cache(maxsize=None)
def signed(public, message, signature):
    if len(signature) != 64:
        return False
    a, r = point_read(public), point_read(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    return same_point(point_mul(s, BASE), point_add(r, point_mul(h, a)))


def preimage(kind, body):
    return b"DSSEv1 %d %s %d %s" % (len(kind.encode()), kind.encode(), len(body), body)


# The axes


def note_signers(checkpoint, name, keys):
    found = []
    for key in keys:
        wanted = sha256(name.encode() + b"\n\x01" + key["public"])[:4]
        for signer, key_hash, signature in checkpoint["signatures"]:
            if signer == name and key_hash == wanted and signed(key["public"], checkpoint["body"], signature):
                found.append(key)
                break
    return found


def good(e, signers, entry):
    issued = 0 if entry is None else moment_ms(entry["record"]["issued_at"])
    return any(
        "revoked_at" not in key and ("exp" not in key or issued <= key["exp"] * 1000) and key["nbf"] <= -(-e["created"] // 1000)
        for key in signers
    )


def moment_ms(moment):
    # Python has no year 0, which is as long as 2000 and 730,485 days before it.
    year0 = moment.startswith("0000")
    written = "2000" + moment[4:] if year0 else moment
    try:
        parsed = datetime.datetime.strptime(written[:-1] + "000Z", "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return None
    since = parsed - datetime.datetime(1970, 1, 1) - datetime.timedelta(days=730485 if year0 else 0)
    return round(since / datetime.timedelta(milliseconds=1))


def succession(key, log):
    statement = canonical({"kid": key["kid"], "log": log, "nbf": key["nbf"], "replaces": key["replaces"], "x": key["x"]})
    return preimage(SUCCESSION_TYPE, statement.encode())


def follow(trusted, offered, log):
    believed = list(trusted)
    for _ in offered:
        for key in offered:
            if "replaces" not in key or any(known["kid"] == key["kid"] for known in believed):
                continue
            elder = next((known for known in believed if known["kid"] == key["replaces"]), None)
            if elder is None or "exp" in elder or "revoked_at" in elder:
                continue
            if signed(elder["public"], succession(key, log), key["succession"]):
                believed.append({name: value for name, value in key.items() if name != "exp"})
                break
        else:
            break
    return believed


def authenticity(e, trusted):
    for before, key in zip([None] + e["keys"], e["keys"]):
        if before and not signed(before["public"], succession(key, e["origin"] + "/keys"), key["succession"]):
            return "fail"
        if any(known["kid"] == key["kid"] and known["nbf"] != key["nbf"] for known in trusted or []):
            return "fail"
    keys = e["keys"] if trusted is None else follow(trusted, e["keys"], e["origin"] + "/keys")
    for entry in e["records"]:
        message = preimage(PAYLOAD_TYPE, entry["payload"])
        signers = [k for k in keys if any(kid == k["kid"] and signed(k["public"], message, sig) for kid, sig in entry["signatures"])]
        if not good(e, signers, entry):
            return "fail"
        if any(kid not in [key["kid"] for key in signers] for kid, _ in entry["signatures"]):
            return "fail"
    if not good(e, note_signers(e["checkpoint"], e["origin"], keys), e["records"][-1]):
        return "fail"
    if e["earlier"] and not good(e, note_signers(e["earlier"][0], e["origin"], keys), None):
        return "fail"
    return "not_provided" if trusted is None else "pass"


def integrity(e):
    if not e["log"].startswith(e["origin"] + "/"):
        return "fail"
    before = None
    for entry in e["records"]:
        record = entry["record"]
        if (record["attestation_id"], record["seq"], record["log"]) != (entry["id"], entry["seq"], e["log"]):
            return "fail"
        if before is not None:
            if entry["seq"] == before["seq"] + 1 and record["prev"] != leaf_hash(before["payload"]).hex():
                return "fail"
            if record["issued_at"] < before["record"]["issued_at"]:
                return "fail"
        before = entry
    for part, member, documents in (("policy", "sha256", e["policies"]), ("basis", "datasets_sha256", e["datasets"])):
        wanted = list(dict.fromkeys(entry["record"][part][member] for entry in e["records"]))
        if [name for name, _ in documents] != wanted:
            return "fail"
        if any(sha256(body.encode()).hex() != name for name, body in documents):
            return "fail"
    first, last = e["records"][0], e["records"][-1]
    if first["seq"] == 0:
        link = sha256(("sallyport ledger\n%s\n" % e["log"]).encode()).hex()
    else:
        link = e["previous"]["leaf"].hex() if e["previous"] else ""
    if first["record"]["prev"] != link or (e["previous"] and e["previous"]["seq"] != first["seq"] - 1):
        return "fail"
    if e["next"] and e["next"]["seq"] != last["seq"] + 1:
        return "fail"
    if not e["next"] and last["seq"] + 1 < e["checkpoint"]["size"]:
        return "fail"
    return "pass"


def inclusion(e):
    checkpoint = e["checkpoint"]
    if checkpoint["origin"] != e["log"]:
        return "fail"
    leaves = [(r["seq"], leaf_hash(r["payload"]), r["path"]) for r in e["records"]]
    leaves += [(n["seq"], n["leaf"], n["path"]) for n in (e["previous"], e["next"]) if n]
    for seq, leaf, path in leaves:
        if root_of_path(leaf, seq, checkpoint["size"], path) != checkpoint["root"]:
            return "fail"
    return "pass"


def consistency(e):
    if e["earlier"] is None:
        return "not_provided"
    old, proof = e["earlier"]
    ok = old["origin"] == e["checkpoint"]["origin"] and consistent(old, e["checkpoint"], proof)
    return "pass" if ok else "fail"


def time(e, witnesses):
    # Timestamps are for OpenSSL: openssl ts -verify. Here the log must continue what was stamped, and witnesses are read.
    for stamped, proof in e["anchors"]:
        if stamped["origin"] != e["checkpoint"]["origin"] or not consistent(stamped, e["checkpoint"], proof):
            return "fail"
    sizes = []
    for stamped, _ in e["anchors"]:
        for name, key_hash, signature in stamped["signatures"]:
            seconds = int.from_bytes(signature[:8], "big")
            public = witnesses.get((name, key_hash))
            if public is None or len(signature) != 72 or seconds >= 253402300800:
                continue
            if not signed(public, b"cosignature/v1\ntime %d\n" % seconds + stamped["body"], signature[8:]):
                return "fail"
            sizes.append(stamped["size"])
    return "pass" if any(size > e["records"][-1]["seq"] for size in sizes) else "not_provided"


def completeness(e):
    records, query = e["records"], e["query"]
    first, last = records[0], records[-1]
    if any(entry["seq"] != first["seq"] + index for index, entry in enumerate(records)):
        return "fail"
    if "attestation_id" in query:
        return "not_provided" if [r["id"] for r in records] == [query["attestation_id"]] else "fail"
    early = sum(r["record"]["issued_at"] < query["from"] for r in records)
    late = sum(r["record"]["issued_at"] > query["to"] for r in records)
    if early > 1 or late > 1 or not any(query["from"] <= r["record"]["issued_at"] <= query["to"] for r in records):
        return "fail"
    if first["seq"] > 0 and first["record"]["issued_at"] >= query["from"]:
        return "fail"
    if last["seq"] < e["checkpoint"]["size"] - 1 and last["record"]["issued_at"] <= query["to"]:
        return "fail"
    return "pass"


def disclosure(e):
    shown = [(r["record"], r["disclosure"]) for r in e["records"] if r["disclosure"]]
    for record, (address, salt, context) in shown:
        if sha256(salt + address.encode()).hex() != record["subject"]["commit"]:
            return "fail"
        if context is not None and sha256(salt + context.encode()).hex() != record.get("context_sha256"):
            return "fail"
    whole = all(context is not None or "context_sha256" not in record for record, (_, _, context) in shown)
    return "pass" if shown and whole else "not_provided"


def texts(value):
    for entry in lst(value):
        need(isinstance(entry, str))
    return value


def holds(entries, wanted, groups):
    return wanted in entries or any(name in entries and wanted in countries for name, countries in groups)


def decide(document, record):
    try:
        policy = obj(parse_json(document))
    except (ValueError, RecursionError):
        raise Malformed()
    groups = [(text(obj(g).get("id")), texts(g.get("countries"))) for g in lst(policy.get("groups"))]
    finding, claim = record["finding"], record["claim"]["jurisdiction"]
    country = finding.get("country", "unknown")
    if "country" not in finding:
        relation = "unknown"
    else:
        relation = "match" if holds([claim], country, groups) else "mismatch"
    for rule in [obj(entry) for entry in lst(policy.get("rules"))]:
        match = obj(rule.get("match"))
        if matches(match, record, claim, country, relation, groups):
            return text(rule.get("action")), text(rule.get("id"))
    return None


def matches(match, record, claim, country, relation, groups):
    finding = record["finding"]
    for name, found in (("reserved", finding["method"] == "reserved"), ("anonymized", finding["anonymized"] == "yes")):
        if name in match:
            need(isinstance(match[name], bool))
            if match[name] != found:
                return False
    if "networkClass" in match and finding["network_origin"] not in texts(match["networkClass"]):
        return False
    for name, found in (("claim", claim), ("country", country)):
        if name in match and not holds(texts(match[name]), found, groups):
            return False
    return "relation" not in match or relation in texts(match["relation"])


def policy_replay(e):
    for entry in e["records"]:
        policy = entry["record"]["policy"]
        document = next((body for name, body in e["policies"] if name == policy["sha256"]), None)
        if document is None:
            return "fail"
        try:
            if decide(document, entry["record"]) != (policy["action"], policy["reason"]):
                return "fail"
        except Malformed:
            return "fail"
    return "pass"


def verify(evidence, keys, witnesses=()):
    trusted = None if keys is None else read_keys(keys)
    known = dict(read_witness(vkey) for vkey in witnesses)
    try:
        e = read_evidence(parse_json(evidence) if isinstance(evidence, str) else evidence)
    except (Malformed, ValueError, RecursionError):
        return {"format": "fail", **{axis: "not_provided" for axis in AXES[1:]}}
    return {
        "format": "pass",
        "authenticity": authenticity(e, trusted),
        "integrity": integrity(e),
        "inclusion": inclusion(e),
        "consistency": consistency(e),
        "completeness": completeness(e),
        "disclosure": disclosure(e),
        "policy_replay": policy_replay(e),
        "time": time(e, known),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        case = parse_json(line)
        print(json.dumps(verify(case["evidence"], case.get("keys"), case.get("witnesses", ()))))
