import { v1 } from '@sallyport/express'
import { sallyport } from '../sallyport.js'

export default fromNodeMiddleware(v1(sallyport))
