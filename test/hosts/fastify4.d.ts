/** Fastify 4 is installed under an alias; for what the tests use of it, its types are those of Fastify 5. */
declare module 'fastify4' {
  import Fastify from 'fastify'
  export = Fastify
}
