/** Runs the command in this process, against a service in memory. */
import { NodeServices } from "@effect/platform-node"
import { TestHost } from "@kinora/host-test"
import type { TestHostOptions } from "@kinora/host-test/TestHostOptions"
import { ConfigProvider, Console, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as ExitCode from "../src/ExitCode.ts"
import * as Kinora from "../src/Kinora.ts"

/** The output of a command, and its exit code. */
export interface Outcome {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** The properties of responses that tests read. A response has those of its kind. */
interface Printed {
  readonly id: string
  readonly key: string
  readonly secret: string
  readonly token: string
  readonly status: string
  readonly data: ReadonlyArray<unknown>
  readonly next_cursor: string
  readonly params: { readonly images: ReadonlyArray<unknown> }
  readonly [property: string]: unknown
}

/** Runs a command line with these variables. */
export const runWith = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  fetch: typeof globalThis.fetch = globalThis.fetch
) {
  const [output, errors] = [new Array<string>(), new Array<string>()]
  const console: Console.Console = {
    ...globalThis.console,
    log: (...texts) => void output.push(texts.join(" ")),
    error: (...texts) => void errors.push(texts.join(" "))
  }
  const exit = yield* Effect.exit(Kinora.run(args)).pipe(
    Effect.provideService(Console.Console, console),
    Effect.provideService(FetchHttpClient.Fetch, fetch),
    Effect.provide(Layer.mergeAll(
      NodeServices.layer,
      FetchHttpClient.layer,
      SecureRandom.layerWebCrypto,
      ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    ))
  )
  const outcome: Outcome = { code: ExitCode.of(exit), output: output.join("\n"), errors: errors.join("\n") }
  return outcome
})

/** Starts a service, and runs commands as its operator and first user. */
export const make = Effect.fnUntraced(function*(options: TestHostOptions = {}) {
  const host = yield* Effect.acquireRelease(
    Effect.promise(() => TestHost.start(options)),
    (host) => Effect.promise(() => host.stop())
  )
  yield* TestClock.setTime(host.clock.now().getTime())
  const env = { KINORA_URL: host.baseUrl, KINORA_ADMIN_TOKEN: host.adminToken, KINORA_API_KEY: host.apiKey }
  const run = (...args: ReadonlyArray<string>) =>
    runWith(args, env, (input, init) => host.fetch(input, { ...init, apiKey: null }))

  /** Runs a command that succeeds, and returns its output. */
  const text = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
    const { code, errors, output } = yield* run(...args)
    return code === 0 ? output : yield* Effect.die(new Error(`${args.join(" ")} exits with ${code}: ${errors}`))
  })

  /** Runs a command that succeeds with `--json`, and returns the JSON. */
  const json = (...args: ReadonlyArray<string>) =>
    Effect.map(text(...args, "--json"), (output) => JSON.parse(output) as Printed)

  return { host, env, run, text, json }
})
