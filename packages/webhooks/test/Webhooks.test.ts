import { memory } from "./Fixture.ts"
import * as SecretsContract from "./SecretsContract.ts"
import * as WebhooksContract from "./WebhooksContract.ts"

WebhooksContract.suite("memory", memory)
SecretsContract.suite("memory", memory)
