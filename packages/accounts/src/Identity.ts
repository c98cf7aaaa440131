/** The result of a successful authentication. */
import type { Account } from "./Account.ts"
import type { KeyId } from "./ApiKey.ts"
import type { KeyTerms } from "./KeyTerms.ts"

/** The account and the key of a request. */
export interface Identity {
  /** May be suspended; check its status. */
  readonly account: Account
  readonly keyId: KeyId
  /** Are not checked: the key may have expired, or not allow the request. */
  readonly terms: KeyTerms
  /** The line of the key, if the line has a budget. The budget is not checked. */
  readonly budgetLine?: KeyId | undefined
}
