/** `kinora key`. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"

const create = operatorCommand(
  "create",
  "Create an API key, which is printed this once",
  { account, name: Argument.String("name").pipe(Argument.withDescription("A name for people")) },
  Effect.fnUntraced(function*(operator, { account, name }) {
    const { body: key } = yield* operator.keys.createKey({
      params: { id: yield* idOf(operator, account) },
      payload: { name }
    })
    yield* Output.show(
      key,
      `${Output.properties([["key", key.key], ["id", key.id], ["name", key.name]])}\nIt is not shown again.`
    )
  })
)

const list = operatorCommand(
  "list",
  "List the keys in use, then the revoked ones",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const keys = yield* operator.keys.listKeys({ params: { id: yield* idOf(operator, account) } })
    yield* Output.show(
      keys,
      Output.table(keys.data, [
        { title: "KEY", value: ({ id }) => id },
        { title: "NAME", value: ({ name }) => name },
        { title: "PREFIX", value: ({ prefix }) => prefix },
        { title: "CREATED", value: (key) => Output.time(key.created_at) },
        { title: "LAST USED", value: (key) => Output.time(key.last_used_at) },
        { title: "REVOKED", value: (key) => Output.time(key.revoked_at) }
      ], "The account has no keys.")
    )
  })
)

const revoke = operatorCommand(
  "revoke",
  "Revoke a key, on every server within 5 seconds",
  { account, key: Argument.String("key").pipe(Argument.withDescription("Id of the key, key_…")) },
  Effect.fnUntraced(function*(operator, { account, key }) {
    const id = yield* idOf(operator, account)
    yield* confirm(`Reject all requests with ${key}?`)
    yield* operator.keys.revokeKey({ params: { id, key_id: key } })
    yield* Output.show({ id: key, revoked: true }, `${key} is revoked.`)
  })
)

/** Manages API keys. */
export const keyCommand = Command.make("key").pipe(
  Command.withDescription("Create, list and revoke API keys"),
  Command.withSubcommands([create, list, revoke])
)
