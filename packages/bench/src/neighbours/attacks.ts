/** All attacks by name. */
import type { Attack } from "./Attack.ts"
import * as GrowingUploads from "./GrowingUploads.ts"
import * as HugeImages from "./HugeImages.ts"
import * as LargeBodies from "./LargeBodies.ts"
import * as LockedAccount from "./LockedAccount.ts"
import * as LongJobs from "./LongJobs.ts"
import * as SharedAccounts from "./SharedAccounts.ts"
import * as StalledBodies from "./StalledBodies.ts"
import * as UnreadLinks from "./UnreadLinks.ts"

/** All attacks. */
export const attacks = {
  bodies: StalledBodies.attack,
  json: LargeBodies.attack,
  images: HugeImages.attack,
  uploads: GrowingUploads.attack,
  links: UnreadLinks.attack,
  jobs: LongJobs.attack,
  lock: LockedAccount.attack,
  shared: SharedAccounts.attack
} satisfies Readonly<Record<string, Attack>>

/** Name of an attack. */
export type AttackName = keyof typeof attacks
