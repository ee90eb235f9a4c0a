export default defineEventHandler((event) => {
  const { action, inspection } = event.node.req.sallyport ?? {}
  return { action, networkClass: inspection?.network.verdict.classification }
})
