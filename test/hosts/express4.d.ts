/** Express 4 is installed under an alias; for what the tests use of it, its types are those of Express 5. */
declare module 'express4' {
  import express from 'express'
  export = express
}
