const PIECES: readonly string[] =
  String.raw`admin ADMIN %61dmin %2561dmin adm%69n public / // %2f %5c \ . .. %2e%2e ..; ; ;x %3b
# ? %23 %3f /admin/ /x %252f %252e %41 ./ %2e/ %C1%A1dmin %C0%AF`.split(/\s/)

/** Spellings of `/admin` that some runtime, router or server serves: every piece before and behind the guarded path. */
export const AROUND: readonly string[] = [
  ...PIECES.flatMap((piece) => [`/admin${piece}`, `/${piece}/admin`, `/admin/delete/..${piece}..${piece}public`]),
  ...`/admin/%5c..%5cpublic /public/..;/admin /admin/delete/..%2f..%2fpublic /admin/%2e%2e /;/admin
http://site.example/admin HTTP://SITE.example:80//admin https://site.example/%2e/admin`.split(/\s/),
]

/** Includes every spelling around `/admin`, and every two pieces behind a slash. */
export const TARGETS: readonly string[] = [
  ...AROUND,
  ...PIECES.flatMap((first) => PIECES.map((second) => `/${first}${second}`)),
]

/** Spellings that a runtime, a router or a server may resolve: a rule on `/admin` must see what the site serves. */
export const SPELLINGS: readonly string[] =
  String.raw`/admin/../x /x/../admin /x/%2e%2e/admin /./admin //admin /admin/..%2fx /x\..\admin`.split(' ')
