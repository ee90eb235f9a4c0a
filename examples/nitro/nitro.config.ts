export default defineNitroConfig({
  srcDir: 'server',
  compatibilityDate: '2026-11-01',
  // Sallyport is opened by a top-level await, before the first request.
  esbuild: { options: { target: 'es2022' } },
  // Its data, threads and drivers are beside its files: node_modules goes where .output goes.
  externals: { trace: false },
})
