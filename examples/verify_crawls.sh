#!/usr/bin/env bash
# Verifies a file of `sallyport report --ai --evidence` with OpenSSL and jq alone, and prints what it proves.
# usage: verify_crawls.sh EVIDENCE KEYS [CERTIFICATES]   (KEYS: GET /v1/provenance/keys; CERTIFICATES: PEM of time authorities)
set -euo pipefail
evidence=$1 keys=$2 certificates=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "fail: $*" >&2; exit 1; }
sha256() { openssl dgst -sha256 -r | cut -c1-64; }
to_hex() { base64 -d | od -An -v -tx1 | tr -d ' \n'; }
hash_part() { printf '%s\n' "$work"/part* | xargs openssl dgst -sha256 -r | cut -c1-64; rm "$work"/part*; }
hash_lines() { # of standard input, each written by the format $1; one call of OpenSSL hashes thousands
  local line count=0
  while IFS= read -r line; do
    printf "$1" "$line" >"$work/part$((10000 + count % 10000))"
    ((++count % 10000)) || hash_part
  done
  ((count % 10000 == 0)) || hash_part
}
hash_nodes() { sed 's/../\\x&/g' | hash_lines %b; } # RFC 6962, section 2.1; of lines 01LEFTRIGHT
node() { hash_nodes <<<"01$1$2"; }
jq -r '.records[]' "$evidence" >"$work/records"
jq 'del(.records)' "$evidence" >"$work/file"
records=$work/records evidence=$work/file

# The keys sign the checkpoint (C2SP signed note, Ed25519).
jq -j .checkpoint "$evidence" >"$work/note"
sed '/^$/,$d' "$work/note" >"$work/body"
signed=no
for signature in $(sed -n 's/^— [^ ]* //p' "$work/note"); do
  base64 -d <<<"$signature" | tail -c +5 >"$work/signature"
  for x in $(jq -r '.keys[] | select(.revoked_at | not) | .x' "$keys"); do
    { base64 -d <<<MCowBQYDK2VwAyEA; tr '_-' '/+' <<<"$x=" | base64 -d; } >"$work/key"
    openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey "$work/key" -sigfile "$work/signature" -in "$work/body" >"$work/said" 2>&1 && signed=yes
  done
done
[ $signed = yes ] || fail 'none of the keys signed the checkpoint'
{ read -r log; read -r total; read -r root; } <"$work/body"
root=$(to_hex <<<"$root")
[ "$log" = "$(jq -r .log "$evidence")" ] || fail 'the checkpoint belongs to another log'

# The records continue the tree before them.
peaks=()
for peak in $(jq -r '.tree.before[]' "$evidence"); do peaks+=("$(to_hex <<<"$peak")"); done
start=$(head -1 "$records" | jq .seq)
before=$start
while ((before > 0)); do ((before & 1)) && ones=$((${ones:-0} + 1)); before=$((before >> 1)); done
[ ${#peaks[@]} = "${ones:-0}" ] || fail 'the tree before the first record is incomplete'
size=$((start + $(wc -l <"$records")))
hash_lines '\0%s' <"$records" >"$work/level"
added=()
for ((at = start; $(wc -l <"$work/level") > 0; at = at / 2)); do
  { # A first node on the right has its left one among the peaks.
    if ((at & 1)); then echo "${peaks[-1]}"; fi
    cat "$work/level"
  } >"$work/nodes"
  ((at & 1)) && unset 'peaks[-1]'
  (($(wc -l <"$work/nodes") & 1)) && added=("$(tail -1 "$work/nodes")" "${added[@]}")
  paste -d '' - - <"$work/nodes" | sed -n '/^.\{128\}$/s/^/01/p' | hash_nodes >"$work/level"
done
peaks+=("${added[@]}")
reached=${peaks[-1]}
for ((at = ${#peaks[@]} - 2; at >= 0; at--)); do reached=$(node "${peaks[at]}" "$reached"); done

# The checkpoint continues the tree of the records (RFC 9162, section 2.1.4.2).
proof=()
for hash in $(jq -r '.tree.after[]' "$evidence"); do proof+=("$(to_hex <<<"$hash")"); done
if [ "$size" = "$total" ]; then
  [ "$reached" = "$root" ] || fail 'the checkpoint does not cover the records'
else
  (((size & (size - 1)) == 0)) && proof=("$reached" "${proof[@]}")
  first=$((size - 1)) last=$((total - 1))
  while ((first & 1)); do first=$((first >> 1)) last=$((last >> 1)); done
  old=${proof[0]} new=${proof[0]}
  for hash in "${proof[@]:1}"; do
    ((last > 0)) || fail 'the proof is too long'
    if ((first & 1 || first == last)); then
      old=$(node "$hash" "$old") new=$(node "$hash" "$new")
      while ((first > 0 && !(first & 1))); do first=$((first >> 1)) last=$((last >> 1)); done
    else
      new=$(node "$new" "$hash")
    fi
    first=$((first >> 1)) last=$((last >> 1))
  done
  [ "$old" = "$reached" ] && [ "$new" = "$root" ] && [ $last = 0 ] || fail 'the checkpoint does not cover the records'
fi

# Each robots.txt is the one that the records name.
jq -r '.documents[].sha256' "$evidence" | sort -u >"$work/known"
jq -r '.crawl.preferences[] | .robots_sha256 // empty' "$records" | sort -u | comm -23 - "$work/known" >"$work/missing"
[ -s "$work/missing" ] && fail "the robots.txt $(head -1 "$work/missing") is missing from the file"
for at in $(jq -r '.documents | keys[]' "$evidence"); do
  [ "$(jq -j ".documents[$at].text" "$evidence" | sha256)" = "$(jq -r ".documents[$at].sha256" "$evidence")" ] || fail 'a robots.txt was changed'
done

if [ -n "$certificates" ]; then
  jq -j '.anchors[0].checkpoint' "$evidence" >"$work/anchor"
  jq -r '.anchors[0].timestamps[0].response' "$evidence" | base64 -d >"$work/response"
  openssl ts -verify -data "$work/anchor" -in "$work/response" -CAfile "$certificates" >"$work/said" 2>&1 || fail 'the timestamp is not valid'
  openssl ts -reply -in "$work/response" -text | sed -n 's/^Time stamp:/stamped/p'
fi
echo "proven: records of $(head -1 "$records" | jq -r .crawl.operator) in $log"
jq -r --argjson span "$(jq .query "$evidence")" 'select(.issued_at >= $span.from and .issued_at <= $span.to) | .crawl.rows[] | [.path, .robots, .action, .requests] | @tsv' "$records" |
  awk -F'\t' '{ sum[$1 "\t" $2 "\t" $3] += $4 } END { for (row in sum) print row "\t" sum[row] }' | sort
