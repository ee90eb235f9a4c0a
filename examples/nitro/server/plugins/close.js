import { sallyport } from '../sallyport.js'

export default defineNitroPlugin((nitro) => nitro.hooks.hook('close', () => sallyport.close()))
