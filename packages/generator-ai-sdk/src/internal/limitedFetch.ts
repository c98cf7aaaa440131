/** A `fetch` that limits the length of responses. */

/** Returns a `fetch` whose bodies fail after `bytesMax` bytes. Redirects are not followed. */
export const limitedFetch = (bytesMax: number): typeof fetch => async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "error" })
  if (response.body === null) return response
  let total = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (part, controller) => {
      total += part.length
      if (total > bytesMax) controller.error(new Error("The response is too long"))
      else controller.enqueue(part)
    }
  })
  const { headers, status, statusText } = response
  return new Response(response.body.pipeThrough(limit), { headers, status, statusText })
}
