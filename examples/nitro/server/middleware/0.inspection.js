// Inspection of every request, the first of the middleware; the same file is that of a Nuxt site.
import { inspection } from '@sallyport/fetch/h3'
import { sallyport } from '../sallyport.js'

export default defineEventHandler(inspection(sallyport))
