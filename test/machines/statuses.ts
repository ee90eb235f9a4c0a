/** Sends `count` requests, `width` at once, and gives how often each status came; 0 is a connection that broke. */
export async function statuses(count: number, width: number, send: () => Promise<Response>) {
  const counted = new Map<number, number>()
  let left = count
  const lane = async () => {
    while (left-- > 0) {
      const status = await send().then(
        async (response) => {
          await response.arrayBuffer()
          return response.status
        },
        () => 0,
      )
      counted.set(status, (counted.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  return (status: number) => counted.get(status) ?? 0
}

/** Sends, one after another, until `count` were granted: what a process reserved and did not use is given back a moment later. */
export async function granted(count: number, send: () => Promise<Response>): Promise<void> {
  for (let left = count; left > 0; ) {
    const response = await send()
    await response.arrayBuffer()
    if (response.status === 200) left--
  }
}
