import { assert, it } from "@effect/vitest"
import { Api } from "@kinora/http-api"
import { scene } from "./Scene.ts"

it("has a call for each endpoint of the contract, with the same name", () => {
  const { kinora } = scene([])
  const calls: Readonly<Record<string, object>> = {
    ...kinora,
    // Files belong to jobs.
    content: kinora.generations
  }
  const missing = Object.values(Api.Api.groups)
    // For load balancers and operators only.
    .filter(({ identifier }) => identifier !== "health" && identifier !== "monitoring")
    .flatMap(({ endpoints, identifier }) => Object.keys(endpoints).map((name) => [identifier, name] as const))
    .filter(([group, name]) => !(name in (calls[group] ?? {})))
  assert.deepStrictEqual(missing, [])
})
