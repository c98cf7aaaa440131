/** The table of keys. */
import type { KeyTable } from "@kinora/api-keys/SqlApiKeyStore"
import { AccountId } from "../../Account.ts"

/** Keys belong to accounts. Metadata, which `keyRecords` writes, has the models of the terms. */
export const keyTable: KeyTable = {
  name: "accounts_key",
  owner: {
    column: "account",
    type: "uuid",
    // `Accounts` passes ids of accounts only.
    toColumn: (owner) => AccountId.toUuid(owner as AccountId),
    fromColumn: AccountId.fromUuid
  },
  metadata: "restrictions"
}
