/** Definitions of the settings for how long rows are kept. */
import { Schema } from "effect"
import { between } from "./between.ts"

const daysOrOff = (daysMin: number) => Schema.Union([Schema.Literal("off"), between(daysMin, 36_500)])

/** Definitions by key of the file. See `definitions`. */
export const retentionDefinitions = {
  jobs_ttl_days: {
    schema: daysOrOff(2),
    default: "90",
    expected: "a number of days from 2 to 36500, or off",
    about: "Days after their end after which jobs are deleted with their prompts; off: never."
  },
  usage_ttl_days: {
    schema: daysOrOff(31),
    default: "731",
    expected: "a number of days from 31 to 36500, or off",
    about: "Days after which the usage of a day is deleted; off: never."
  },
  revoked_keys_ttl_days: {
    schema: daysOrOff(1),
    default: "90",
    expected: "a number of days from 1 to 36500, or off",
    about: "Days after their revocation after which API keys are deleted; off: never."
  },
  deleted_accounts_ttl_days: {
    schema: daysOrOff(2),
    default: "30",
    expected: "a number of days from 2 to 36500, or off",
    about: "Days after their deletion after which the data of accounts is erased; off: never."
  },
  audit_ttl_days: {
    schema: daysOrOff(31),
    default: "731",
    expected: "a number of days from 31 to 36500, or off",
    about: "Days after which entries of the audit log are deleted; off: never."
  },
  failed_sign_ins_ttl_days: {
    schema: daysOrOff(1),
    default: "90",
    expected: "a number of days from 1 to 36500, or off",
    about: "Days after which failed sign-ins are deleted from the audit log; off: with the other entries."
  },
  payments_ttl_days: {
    schema: daysOrOff(31),
    default: "731",
    expected: "a number of days from 31 to 36500, or off",
    about: "Days after their end after which payments are deleted; off: never. Deposits stay."
  },
  webhooks_ttl_days: {
    schema: between(1, 365),
    default: "7",
    expected: "a number of days from 1 to 365",
    about: "Days after which ended webhook deliveries are deleted and cannot be sent again."
  }
} as const
