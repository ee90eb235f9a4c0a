/** Koa 2 is installed under an alias; for what the tests use of it, its types are those of Koa 3. */
declare module 'koa2' {
  import Koa from 'koa'
  export = Koa
}
