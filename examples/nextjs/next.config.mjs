/** @type {import('next').NextConfig} */
export default {
  // They read files of their own, which a bundle does not have.
  serverExternalPackages: ['sallyport', '@sallyport/fetch'],
}
