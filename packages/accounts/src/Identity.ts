/** What a good API key proves. */
import type { Account } from "./Account.ts"
import type { KeyId } from "./ApiKey.ts"

/** Whose key a request carries. */
export interface Identity {
  /** May be suspended: its status says so. */
  readonly account: Account
  readonly keyId: KeyId
}
