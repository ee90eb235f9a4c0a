import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const PACKAGE = packageFolder()
const FILE = join(import.meta.dirname, '../reference.html.gz')

/** Shows the document that is served beside the page; the mount is read off the page's own address. */
const START = `const base = location.pathname.replace(/\\/v1\\/docs\\/?$/, '')
document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches)
fetch(base + '/v1/openapi.json').then((answer) => answer.json()).then((document) => SwaggerUIBundle({
  dom_id: '#reference', spec: Object.assign(document, { servers: [{ url: base || '/' }] }),
  validatorUrl: null, deepLinking: true, tryItOutEnabled: true, displayRequestDuration: true, defaultModelsExpandDepth: 0,
})).catch((error) => { window.reference.textContent = 'The document of the API was not read: ' + error.message })`

/** Texts that would end or change an inline script; within literals the first letter may be written by its number. */
const script = findFile('swagger-ui-bundle.js').replace(/<(?=!--|\/?script)/gi, '\\x3c')
/** Colours of Swagger UI have too little contrast: white on light blue, light green on white, grey on dark. */
const CONTRAST = `html:not(.dark-mode) .swagger-ui{
.info .title small{background:#5b6170}.info .title small.version-stamp{background:#3f6f00}
.info a,.info .link,a.nostyle.link{color:#1f5fae}
.btn.authorize{color:#1d7a52;border-color:#1d7a52}.btn.cancel{color:#b3262e;border-color:#b3262e}
.download-contents{background:#5b6170}.btn.execute{background:#1f5fae;border-color:#1f5fae}
.opblock-get .opblock-summary-method{background:#1f5fae}.opblock-post .opblock-summary-method{background:#1d7a52}
.parameter__name.required::after,.parameter__name.required span{color:#b3262e}
.parameter__deprecated,.prop-format,.parameter__in,.renderedMarkdown code{color:#4a4f57}
}html.dark-mode .swagger-ui .opblock{.header-col{color:#c9ced6}.try-out .btn.try-out__btn.cancel{color:#ff9a9a}}`
/** On a phone a title and what its group does stand below one another: side by side, words would be broken. */
const NARROW =
  '@media(max-width:640px){.swagger-ui .opblock-tag{flex-wrap:wrap}.swagger-ui .opblock-tag small{flex:1 1 70%;padding:0}}'
const style = `${findFile('swagger-ui.css')}body{margin:0}${CONTRAST}${NARROW}`
const licences = `${findFile('NOTICE')}\n${findFile('swagger-ui-bundle.js.LICENSE.txt')}`.replaceAll('--', '- -')
const policy = [
  "default-src 'none'",
  `script-src ${hashText(script)} ${hashText(START)}`,
  `style-src ${hashText(style)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sallyport API</title><style>${style}</style></head>
<body><main id="reference"><noscript>The reference needs JavaScript. The same for programs: <a href="openapi.json">openapi.json</a>.</noscript></main>
<script>${script}</script><script>${START}</script>
<!-- Swagger UI, Apache-2.0\n${licences}\n--></body></html>
`

mkdirSync(dirname(FILE), { recursive: true })
writeFileSync(FILE, gzipSync(page, { level: 9 }))

/** `npm ci --omit=optional` leaves the package out: then a page says that the reference was not built. */
function packageFolder(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  } catch {
    process.stderr.write('/v1/docs is not built: swagger-ui-dist is not installed\n')
    process.exit(0)
  }
}

function findFile(name: string): string {
  // A map beside the bundle is not shipped.
  return readFileSync(join(PACKAGE, name), 'utf8').replace(/\n?\/[/*]# sourceMappingURL=.*$/m, '')
}

function hashText(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
