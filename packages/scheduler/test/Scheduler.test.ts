import { suite as crowd } from "./CrowdContract.ts"
import { suite as delays } from "./DelaysContract.ts"
import { memory } from "./Fixture.ts"
import { suite as handovers } from "./HandoversContract.ts"
import { suite as leases } from "./LeasesContract.ts"
import { suite as priorities } from "./PrioritiesContract.ts"
import { suite as retries } from "./RetriesContract.ts"
import { suite } from "./SchedulerContract.ts"
import { suite as shares } from "./SharesContract.ts"
import { suite as uniqueKeys } from "./UniqueKeysContract.ts"
import { suite as wakeups } from "./WakeupsContract.ts"

suite("memory", memory)
leases("memory", memory)
delays("memory", memory)
handovers("memory", memory)
priorities("memory", memory)
retries("memory", memory)
shares("memory", memory)
uniqueKeys("memory", memory)
wakeups("memory", memory)
crowd("memory", memory, 10_000)
