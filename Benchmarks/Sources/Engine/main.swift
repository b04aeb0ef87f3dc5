import Harness

runGroup("Engine") { plan, report in
  let pool = RecordPool()
  try Limits(plan: plan).run(report)
  try DurableCommits(plan: plan, pool: pool).run(report)
  try RelaxedCommits(plan: plan, pool: pool).run(report)
  try Updates(plan: plan, pool: pool).run(report)
  try Reads(plan: plan, pool: pool).run(report)
  try IndexBenchmarks(plan: plan, pool: pool).run(report)
  try Opening(plan: plan, pool: pool).run(report)
}
