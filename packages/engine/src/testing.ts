export * from '#accounts/testing'
export * from '#datasets/testing'
export * from '#stores/testing'
