/// Harms stores while they are compacted: in steps in the background, on demand, with a history to keep,
/// and with values in side files.
package enum CompactionCampaign {
  package static func run(seed: UInt64, stepCount: Int = 60) -> CampaignResult {
    var result =
      switch seed % 8 {
      case 0...3:
        PowerCutCampaign.run(
          .compacting(seed: seed, stepCount: stepCount),
          limits: .several,
          oneMomentIn: 5
        )
      case 4: BlobCampaign.runPowerCut(seed: seed, stepCount: stepCount / 2, .compacting)
      case 5: BlobCampaign.runFault(seed: seed, stepCount: stepCount, .compacting)
      case 6: ErrorCampaign.run(.compacting(seed: seed, stepCount: stepCount), faultCount: 6)
      default: SpaceCampaign.run(.compacting(seed: seed, stepCount: stepCount))
      }
    for index in result.violations.indices { result.violations[index].area = .compaction }
    return result
  }
}

extension CrashStateLimits {
  /// Enough to take apart what is pending, and few enough to see many moments.
  static var several: CrashStateLimits {
    var limits = CrashStateLimits()
    limits.tornWrites = 1
    limits.exhaustiveSectors = 4
    limits.randomSubsets = 8
    limits.exhaustiveNames = 4
    return limits
  }
}
