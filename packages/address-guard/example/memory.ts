import { AddressGuard } from "@kinora/address-guard"
import { Console, Effect } from "effect"

const program = Effect.gen(function*() {
  const { check } = yield* AddressGuard.AddressGuard
  const describe = (url: string) =>
    check(url).pipe(
      Effect.map(({ addresses }) => addresses.join(", ")),
      Effect.catchTag("AddressRefused", ({ message, problem }) => Effect.succeed(`${problem}: ${message}`)),
      Effect.flatMap(Console.log)
    )

  yield* describe("https://93.184.216.34/hooks")
  yield* describe("https://169.254.169.254/latest/meta-data")
  yield* describe("https://2130706433/")
  yield* describe("http://93.184.216.34/hooks")
})

await Effect.runPromise(Effect.provide(program, AddressGuard.layerWith()))
// 93.184.216.34
// address: The host must have public addresses only.
// address: The host must have public addresses only.
// scheme: The URL must begin with https://.
