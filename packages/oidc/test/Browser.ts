/** A browser that follows redirects with its cookies, until it would open a page of another origin. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"

/** Makes a browser. `visit` returns the first URL outside of the origin of the given one that it is sent to. */
export const make = () => {
  const cookies = new Map<string, string>()

  const visit = (url: string): Effect.Effect<URL> =>
    Effect.gen(function*() {
      const response = yield* Effect.promise((signal) =>
        fetch(url, {
          signal,
          redirect: "manual",
          headers: { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ") }
        })
      )
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        if (value === "") cookies.delete(name)
        else cookies.set(name, value)
      }
      const location = response.headers.get("location")
      yield* Effect.promise(() => response.text())
      assert.isNotNull(location, `${response.status} at ${url}`)
      const next = new URL(location ?? "", url)
      return next.origin === new URL(url).origin ? yield* visit(next.href) : next
    })

  return { visit }
}
