import * as ClaimsContract from "./ClaimsContract.ts"
import { memory } from "./Fixture.ts"
import * as WebhookStoreContract from "./WebhookStoreContract.ts"

WebhookStoreContract.suite("memory", memory)
ClaimsContract.suite("memory", memory)
