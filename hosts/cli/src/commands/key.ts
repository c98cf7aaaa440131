/** `kinora key`. */
import { type AdminKey, rollOverlapSecondsMax } from "@kinora/http-api/AdminAccount"
import { KeyScope } from "@kinora/http-api/RequestPolicy"
import { Array as Arr, DateTime, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { budgetFlags, budgetOf, limitsOf, requireLimit } from "./keyBudget.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { showList } from "./page.ts"

const key = Argument.String("key").pipe(Argument.withDescription("Id of the key, key_…"))

const name = Argument.String("name").pipe(Argument.withDescription("A name for people"))

const restrictions = {
  days: Flag.Int("days").pipe(
    Flag.withDescription("Days after which the key expires. Default: never"),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_660 }))),
    Flag.optional
  ),
  scope: Flag.Literals("scope", KeyScope.literals).pipe(
    Flag.withDescription("The only requests that it allows, repeatable. Default: all"),
    Flag.between(0, KeyScope.literals.length)
  ),
  model: Flag.String("model").pipe(
    Flag.withDescription("The only model of its jobs, repeatable. Default: all"),
    Flag.between(0, 100)
  ),
  ip: Flag.String("ip").pipe(
    Flag.withDescription("The only address or network of its clients, repeatable. Default: all"),
    Flag.between(0, 100)
  )
}

const overlap = Flag.Finite("overlap").pipe(
  Flag.withDescription("Hours for which the former key stays valid"),
  Flag.withSchema(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: rollOverlapSecondsMax / 3600 }))),
  Flag.withDefault(24)
)

const showNew = (key: { readonly id: string; readonly key: string; readonly name: string }) =>
  Output.show(
    key,
    `${Output.properties([["key", key.key], ["id", key.id], ["name", key.name]])}\nIt is not shown again.`
  )

/** Returns what a key is restricted to, in words. */
const restrictedTo = (
  { ip_ranges, models, scopes }: Pick<typeof AdminKey.Type, "ip_ranges" | "models" | "scopes">
): string => [scopes, models, ip_ranges].flatMap((list) => list ?? []).join(", ") || "-"

const create = operatorCommand(
  "create",
  "Create an API key, which is printed this once",
  {
    account,
    name,
    ...restrictions,
    ...budgetFlags
  },
  Effect.fnUntraced(function*(operator, { account, days, ip, model, name, scope, ...flags }) {
    const budget = budgetOf(flags)
    const { body: key } = yield* operator.keys.createKey({
      params: { id: yield* idOf(operator, account) },
      payload: {
        name,
        ...Option.isSome(days) && { expires_at: DateTime.add(yield* DateTime.now, { days: days.value }) },
        ...Arr.isReadonlyArrayNonEmpty(scope) && { scopes: scope },
        ...Arr.isReadonlyArrayNonEmpty(model) && { models: model },
        ...Arr.isReadonlyArrayNonEmpty(ip) && { ip_ranges: ip },
        ...Object.keys(budget).length > 0 && { budget }
      }
    })
    yield* showNew(key)
  })
)

const budget = operatorCommand(
  "budget",
  "Change the given limits of a key and of those that it replaced, on every server within 5 seconds",
  { account, key, ...budgetFlags },
  Effect.fnUntraced(function*(operator, { account, key, ...flags }) {
    const changed = yield* operator.keys.updateKey({
      params: { id: yield* idOf(operator, account), key_id: key },
      payload: { budget: budgetOf(flags) }
    })
    yield* Output.show(changed, `${key}: ${limitsOf(changed).join(", ") || "no limits"}`)
  })
).pipe(Command.validate((flags) => requireLimit(flags)))

const rename = operatorCommand(
  "rename",
  "Rename a key",
  { account, key, name },
  Effect.fnUntraced(function*(operator, { account, key, name }) {
    const params = { id: yield* idOf(operator, account), key_id: key }
    const renamed = yield* operator.keys.updateKey({ params, payload: { name } })
    yield* Output.show(renamed, `${key} is named ${renamed.name}.`)
  })
)

const roll = operatorCommand(
  "roll",
  "Replace a key by one with the same name, restrictions and budget, which is printed this once",
  { account, key, overlap },
  Effect.fnUntraced(function*(operator, { account, key, overlap }) {
    const { body: rolled } = yield* operator.keys.rollKey({
      params: { id: yield* idOf(operator, account), key_id: key },
      payload: { overlap_seconds: Math.round(overlap * 3600) }
    })
    yield* showNew(rolled)
  })
)

const list = operatorCommand(
  "list",
  "List the keys in use, then the revoked ones",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const keys = yield* operator.keys.listKeys({ params: { id: yield* idOf(operator, account) } })
    yield* showList(keys, [
      { title: "KEY", value: ({ id }) => id },
      { title: "NAME", value: ({ name }) => name },
      { title: "PREFIX", value: ({ prefix }) => prefix },
      { title: "CREATED", value: (key) => Output.time(key.created_at) },
      { title: "LAST USED", value: (key) => Output.time(key.last_used_at) },
      { title: "EXPIRES", value: (key) => Output.time(key.expires_at) },
      { title: "REVOKED", value: (key) => Output.time(key.revoked_at) },
      { title: "RESTRICTED TO", value: restrictedTo },
      { title: "BUDGET", value: (key) => limitsOf(key).join(", ") || "-" }
    ], "The account has no keys.")
  })
)

const revoke = operatorCommand(
  "revoke",
  "Revoke a key, on every server within 5 seconds",
  { account, key },
  Effect.fnUntraced(function*(operator, { account, key }) {
    const id = yield* idOf(operator, account)
    yield* confirm(`Reject all requests with ${key}?`)
    yield* operator.keys.revokeKey({ params: { id, key_id: key } })
    yield* Output.show({ id: key, revoked: true }, `${key} is revoked.`)
  })
)

/** Manages API keys. */
export const keyCommand = Command.make("key").pipe(
  Command.withDescription("Create, rename, roll, list and revoke API keys, and change their budgets"),
  Command.withSubcommands([create, rename, budget, roll, list, revoke])
)
