import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as OperatorListener from "../src/OperatorListener.ts"
import * as Settings from "../src/Settings.ts"

const local = (port: number) => ({ host: "127.0.0.1", port })

const cases: ReadonlyArray<
  readonly [
    environment: Readonly<Record<string, string>>,
    server: OperatorListener.OperatorListener,
    worker: OperatorListener.OwnListener
  ]
> = [
  [{}, "shared", local(4749)],
  [{ KINORA_HOST: "localhost" }, "shared", local(4749)],
  [{ KINORA_HOST: "::1" }, "shared", local(4749)],
  [{ KINORA_HOST: "127.0.0.2", KINORA_PORT: "80" }, "shared", local(4749)],
  [{ KINORA_HOST: "0.0.0.0" }, local(4748), local(4749)],
  [{ KINORA_HOST: "::" }, local(4748), local(4749)],
  [{ KINORA_HOST: "192.0.2.1" }, local(4748), local(4749)],
  [{ KINORA_HOST: "127.example.com" }, local(4748), local(4749)],
  [{ KINORA_HOST: "0.0.0.0", KINORA_ADMIN_PORT: "off" }, "off", "off"],
  [{ KINORA_ADMIN_PORT: "off" }, "off", "off"],
  [{ KINORA_ADMIN_PORT: "9000" }, local(9000), local(9000)],
  [{ KINORA_ADMIN_PORT: "0", KINORA_PORT: "0" }, local(0), local(0)],
  [{ KINORA_ADMIN_HOST: "10.0.0.1" }, { host: "10.0.0.1", port: 4748 }, { host: "10.0.0.1", port: 4749 }],
  [
    { KINORA_HOST: "0.0.0.0", KINORA_ADMIN_HOST: "0.0.0.0", KINORA_ADMIN_PORT: "9000" },
    { host: "0.0.0.0", port: 9000 },
    { host: "0.0.0.0", port: 9000 }
  ],
  // Somebody who sets both to those of the clients wants one listener.
  [
    { KINORA_HOST: "0.0.0.0", KINORA_ADMIN_HOST: "0.0.0.0", KINORA_ADMIN_PORT: "4747" },
    "shared",
    { host: "0.0.0.0", port: 4747 }
  ]
]

it.effect.each(cases)("is at the documented address for %j", ([environment, server, worker]) =>
  Effect.gen(function*() {
    const settings = yield* Settings.load(environment)
    assert.deepStrictEqual(OperatorListener.ofServer(settings), server)
    assert.deepStrictEqual(OperatorListener.ofWorker(settings), worker)
  }))

it.effect("refuses other ports", () =>
  Effect.gen(function*() {
    for (const port of ["none", "-1", "65536", "4748.5"]) {
      const { message } = yield* Effect.flip(Settings.load({ KINORA_ADMIN_PORT: port }))
      assert.strictEqual(message, `KINORA_ADMIN_PORT is "${port}"; expected a port from 0 to 65535, or off`)
    }
  }))
