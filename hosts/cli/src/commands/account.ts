/** `kinora account`. */
import { AccountStatus, type AdminAccount } from "@kinora/http-api/AdminAccount"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { showSignInLink } from "./showSignInLink.ts"

/** Shows an account. */
const show = (account: AdminAccount) =>
  Output.show(
    account,
    Output.properties([
      ["account", account.id],
      ["e-mail", account.email],
      ["status", account.status],
      ["created", Output.time(account.created_at)],
      ...account.deleted_at === null ? [] : [["deleted", Output.time(account.deleted_at)] as const],
      ["balance", Output.dollars(account.balance_usd_cents)],
      ["studio plan", planOf(account.plans.studio)],
      ["credits plan", planOf(account.plans.credits)]
    ])
  )

/** Renders a plan. */
const planOf = (plan: AdminAccount["plans"]["studio" | "credits"]): string =>
  plan === null
    ? "none"
    : `${plan.tier}, ${plan.auto_renew ? "renews" : "ends"} ${Output.time(plan.period_end)}`

const create = operatorCommand(
  "create",
  "Create an account, without plan, credits or keys",
  { email: Argument.String("email").pipe(Argument.withDescription("E-mail address of the account")) },
  Effect.fnUntraced(function*(operator, { email }) {
    yield* show(yield* operator.accounts.createAccount({ payload: { email } }))
  })
)

const list = operatorCommand(
  "list",
  "List accounts, newest first",
  {
    search: Flag.String("search").pipe(Flag.withDescription("Part of the e-mail address"), Flag.optional),
    status: Flag.Literals("status", AccountStatus.literals).pipe(Flag.optional),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("Maximum number of accounts"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
      Flag.withDefault(20)
    ),
    cursor: Flag.String("cursor").pipe(Flag.withDescription("next_cursor of the page before"), Flag.optional)
  },
  Effect.fnUntraced(function*(operator, { cursor, limit, search, status }) {
    const page = yield* operator.accounts.listAccounts({
      query: {
        limit,
        ...Option.match(search, { onNone: () => ({}), onSome: (search) => ({ search }) }),
        ...Option.match(status, { onNone: () => ({}), onSome: (status) => ({ status }) }),
        ...Option.match(cursor, { onNone: () => ({}), onSome: (cursor) => ({ cursor }) })
      }
    })
    const table = Output.table(page.data, [
      { title: "ACCOUNT", value: ({ id }) => id },
      { title: "E-MAIL", value: ({ email }) => email },
      { title: "STATUS", value: ({ status }) => status },
      { title: "STUDIO", value: ({ plans }) => plans.studio?.tier ?? "-" },
      { title: "CREDITS", value: ({ plans }) => plans.credits?.tier ?? "-" },
      { title: "BALANCE", value: (account) => Output.dollars(account.balance_usd_cents), isNumber: true },
      { title: "CREATED", value: (account) => Output.time(account.created_at) }
    ], "No account matches.")
    yield* Output.show(page, page.next_cursor === null ? table : `${table}\nMore: --cursor ${page.next_cursor}`)
  })
)

const get = operatorCommand(
  "get",
  "Show an account",
  { account },
  Effect.fnUntraced(function*(operator, input) {
    yield* show(yield* operator.accounts.getAccount({ params: { id: yield* idOf(operator, input.account) } }))
  })
)

const update = operatorCommand(
  "update",
  "Change the e-mail address of an account",
  { account, email: Flag.String("email").pipe(Flag.withDescription("The new e-mail address")) },
  Effect.fnUntraced(function*(operator, { account, email }) {
    const id = yield* idOf(operator, account)
    yield* show(yield* operator.accounts.updateAccount({ params: { id }, payload: { email } }))
  })
)

const suspend = operatorCommand(
  "suspend",
  "Reject the requests of an account. Its running jobs continue",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const id = yield* idOf(operator, account)
    yield* confirm(`Reject all requests of ${account}?`)
    yield* show(yield* operator.accounts.suspendAccount({ params: { id } }))
  })
)

const resume = operatorCommand(
  "resume",
  "End a suspension",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const id = yield* idOf(operator, account)
    yield* show(yield* operator.accounts.resumeAccount({ params: { id } }))
  })
)

const remove = operatorCommand(
  "delete",
  "Revoke the keys of an account and remove its plans and webhooks at once, and its data after a grace period",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const id = yield* idOf(operator, account)
    yield* confirm(`Delete ${account} with its keys, plans and webhooks?`)
    yield* show(yield* operator.accounts.deleteAccount({ params: { id } }))
  })
)

const restore = operatorCommand(
  "restore",
  "Undo the deletion of an account, without its former keys, plans and webhooks",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const id = yield* idOf(operator, account)
    yield* show(yield* operator.accounts.restoreAccount({ params: { id } }))
  })
)

const signInLink = operatorCommand(
  "sign-in-link",
  "Create a link with which a person signs in to the account, once and within 10 minutes",
  {
    account,
    role: Flag.Literals("role", ["member", "viewer"]).pipe(
      Flag.withDescription("member: can change the account; viewer: can only read it"),
      Flag.withDefault("member" as const)
    )
  },
  Effect.fnUntraced(function*(operator, { account, role }) {
    const id = yield* idOf(operator, account)
    const { body } = yield* operator.links.createAccountSignInLink({ params: { id }, payload: { role } })
    yield* showSignInLink(body)
  })
)

/** Manages accounts. */
export const accountCommand = Command.make("account").pipe(
  Command.withDescription(
    "Create, list, change, suspend, resume, delete and restore accounts, and create sign-in links"
  ),
  Command.withSubcommands([create, list, get, update, suspend, resume, remove, restore, signInLink])
)
