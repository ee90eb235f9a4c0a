export * from '#datasets/testing'
export * from '#stores/testing'
