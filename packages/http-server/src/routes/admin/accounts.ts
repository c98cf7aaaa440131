/** Accounts in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import { AccountDeletion } from "@kinora/generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Sessions } from "@kinora/sessions"
import { Effect } from "effect"
import { type ChangeRequest, changes, note } from "../../middleware/changes.ts"
import { answers, invalidParameter, parseId } from "../../middleware/refusals.ts"
import { toWire } from "../../wire/adminAccount.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "accounts", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const deletion = yield* AccountDeletion.AccountDeletion
  const sessions = yield* Sessions.Sessions

  const change = makeChange(accounts, sessions)

  return handlers.handleAll({
    createAccount: changes(["EmailInvalid", "EmailTaken"], function*({ payload }) {
      const account = yield* accounts.create(payload)
      yield* note({ subject: account.id })
      yield* Effect.logInfo("An operator created an account", { account: account.id })
      return toWire(account)
    }),

    listAccounts: answers([], function*({ query: { cursor, limit = pageSizeDefault, search, status } }) {
      const after = cursor === undefined ? undefined : Account.AccountId.parse(cursor)
      if (cursor !== undefined && after === undefined) return yield* invalidCursor
      // One more than the page, which shows whether it is the last one.
      const found = yield* accounts.list({ search, status, after, limit: limit + 1 })
      const page = found.slice(0, limit)
      return { data: page.map(toWire), next_cursor: found.length > limit ? page.at(-1)!.id : null }
    }),

    getAccount: answers(["AccountNotFound"], function*({ params }) {
      return toWire(yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id)))
    }),

    updateAccount: changes(
      ["AccountDeleted", "AccountNotFound", "EmailInvalid", "EmailTaken"],
      function*({ params, payload }) {
        const id = yield* parseId(Account.AccountId.parse, params.id)
        const account = yield* accounts.changeEmail(id, payload.email)
        yield* Effect.logInfo("An operator changed the e-mail address of an account", { account: id })
        return toWire(account)
      }
    ),

    suspendAccount: change("suspend"),
    resumeAccount: change("resume"),

    deleteAccount: changes(["AccountNotFound"], function*({ params }) {
      const { id, status } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
      const account = yield* deletion.delete(id)
      yield* note({ before: { status }, after: { status: account.status } })
      yield* Effect.logInfo("An operator deleted an account", { account: id })
      return toWire(account)
    }),

    restoreAccount: changes(["AccountDeleted", "AccountNotFound"], function*({ params }) {
      const { id, status } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
      const account = yield* accounts.restore(id)
      yield* note({ before: { status }, after: { status: account.status } })
      yield* Effect.logInfo("An operator restored an account", { account: id })
      return toWire(account)
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

const invalidCursor = invalidParameter("cursor", "must be the next_cursor of an earlier page")

/** Makes handlers that suspend or resume an account. */
const makeChange =
  (accounts: Accounts.Accounts["Service"], sessions: Sessions.Sessions["Service"]) =>
  (operation: "suspend" | "resume") =>
    changes(
      ["AccountDeleted", "AccountNotFound"],
      function*({ params }: ChangeRequest & { readonly params: { readonly id: string } }) {
        const { id, status } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
        const account = yield* accounts[operation](id)
        // In the same unit, so that they do not work again after the suspension.
        if (operation === "suspend") yield* sessions.endAll({ account: id })
        yield* note({ before: { status }, after: { status: account.status } })
        yield* Effect.logInfo(`An operator ${past[operation]} an account`, { account: account.id })
        return toWire(account)
      }
    )

const past = { suspend: "suspended", resume: "resumed" }
