// Inspection of every request, the first of the middleware; the same file is that of a Nuxt site.
import { inspection } from '@sallyport/express'
import { sallyport } from '../sallyport.js'

export default fromNodeMiddleware(inspection(sallyport))
