import { v1 } from '@sallyport/fetch/h3'
import { sallyport } from '../sallyport.js'

export default defineEventHandler(v1(sallyport))
