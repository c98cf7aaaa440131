/** `kinora account`. */
import { AccountStatus, type AdminAccount } from "@kinora/http-api/AdminAccount"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Operator } from "../Operator.ts"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { given, optionalText } from "./flags.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { page, pageQuery, showList } from "./page.ts"
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
    search: optionalText("search", "Part of the e-mail address"),
    status: Flag.Literals("status", AccountStatus.literals).pipe(Flag.optional),
    ...page("accounts")
  },
  Effect.fnUntraced(function*(operator, { cursor, limit, search, status }) {
    const page = yield* operator.accounts.listAccounts({
      query: {
        ...given({ search, status }),
        ...pageQuery({ cursor, limit })
      }
    })
    yield* showList(page, [
      { title: "ACCOUNT", value: ({ id }) => id },
      { title: "E-MAIL", value: ({ email }) => email },
      { title: "STATUS", value: ({ status }) => status },
      { title: "STUDIO", value: ({ plans }) => plans.studio?.tier ?? "-" },
      { title: "CREDITS", value: ({ plans }) => plans.credits?.tier ?? "-" },
      { title: "BALANCE", value: (account) => Output.dollars(account.balance_usd_cents), isNumber: true },
      { title: "CREATED", value: (account) => Output.time(account.created_at) }
    ], "No account matches.")
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

/** A command that shows an account, after a change if there is one. Asks the question before. */
const command = <E, R>(
  name: string,
  description: string,
  run: (operator: Operator, request: { readonly params: { readonly id: string } }) => Effect.Effect<AdminAccount, E, R>,
  question?: (account: string) => string
) =>
  operatorCommand(
    name,
    description,
    { account },
    Effect.fnUntraced(function*(operator, { account }) {
      const id = yield* idOf(operator, account)
      if (question !== undefined) yield* confirm(question(account))
      yield* show(yield* run(operator, { params: { id } }))
    })
  )

const get = command("get", "Show an account", ({ accounts }, request) => accounts.getAccount(request))

const suspend = command(
  "suspend",
  "Reject the requests of an account. Its running jobs continue",
  ({ accounts }, request) => accounts.suspendAccount(request),
  (account) => `Reject all requests of ${account}?`
)

const resume = command("resume", "End a suspension", ({ accounts }, request) => accounts.resumeAccount(request))

const remove = command(
  "delete",
  "Revoke the keys of an account and remove its plans and webhooks at once, and its data after a grace period",
  ({ accounts }, request) => accounts.deleteAccount(request),
  (account) => `Delete ${account} with its keys, plans and webhooks?`
)

const restore = command(
  "restore",
  "Undo the deletion of an account, without its former keys, plans and webhooks",
  ({ accounts }, request) => accounts.restoreAccount(request)
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
