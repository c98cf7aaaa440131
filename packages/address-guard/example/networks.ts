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

  yield* describe("http://10.20.0.7:8080/hooks")
  yield* describe("https://10.21.0.7/hooks")
  yield* describe("http://93.184.216.34/hooks")
})

const guard = AddressGuard.layerWith({ allowedNetworks: ["10.20.0.0/16", "fd00:20::/32"] })
await Effect.runPromise(Effect.provide(program, guard))
// 10.20.0.7
// address: The host must have public addresses only.
// scheme: The URL must begin with https://.
