import Harness

runGroup("Packs") { plan, report in
  let trips = try PackSource.trips(plan.choose(quick: 200_000, full: 1_000_000))
  try Packing(plan: plan, trips: trips).run(report)
  try PackSizes(plan: plan, trips: trips).run(report)
  try PackReads(plan: plan, trips: trips).run(report)
  try PackScans(plan: plan, trips: trips).run(report)
  try Blobs(plan).run(report)
  try Overwriting(plan: plan).run(report)
}
