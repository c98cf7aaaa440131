import { assert, it } from "@effect/vitest"
import { Api } from "@kinora/http-api"
import { scene } from "./Scene.ts"

it("has a call for each endpoint of the contract, under its name there", () => {
  const { kinora } = scene([])
  const calls: Readonly<Record<string, object>> = {
    ...kinora,
    // Files are those of jobs.
    content: kinora.generations
  }
  const missing = Object.values(Api.Api.groups)
    // Asked by load balancers.
    .filter(({ identifier }) => identifier !== "health")
    .flatMap(({ endpoints, identifier }) => Object.keys(endpoints).map((name) => [identifier, name] as const))
    .filter(([group, name]) => !(name in (calls[group] ?? {})))
  assert.deepStrictEqual(missing, [])
})
