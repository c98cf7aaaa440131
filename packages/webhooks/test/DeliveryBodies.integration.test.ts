import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Wakeup from "../src/Wakeup.ts"
import { suite } from "./DeliveryBodiesContract.ts"
import { over } from "./Fixture.ts"

for (const [name, database] of TestDatabase.all) {
  suite(name, Layer.mergeAll(over(database), Wakeup.layer, SecureRandom.layerWebCrypto))
}
