export default defineEventHandler((event) => {
  const { action, inspection } = event.context.sallyport ?? {}
  return { action, networkClass: inspection?.network.verdict.classification }
})
