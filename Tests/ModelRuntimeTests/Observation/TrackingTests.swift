import Foundation
import Observation
import Testing

@testable import ModelRuntime

@Suite struct `Whether somebody is tracking` {
  /// The two ways to know: the thread's word, and trying it out.
  enum Way: CaseIterable, Sendable {
    case word, probe

    var isTracking: Bool {
      switch self {
      case .word: ModelRuntime.isTracking
      case .probe: TrackingProbe.shared.isTracking
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `is known inside and outside of tracking, nested too`(way: Way) {
    #expect(!way.isTracking)
    withObservationTracking {
      #expect(way.isTracking)
      withObservationTracking {
        #expect(way.isTracking)
      } onChange: {
      }
      #expect(way.isTracking)
    } onChange: {
    }
    #expect(!way.isTracking)
  }

  @Test(arguments: Way.allCases)
  func `is known of each thread by itself`(way: Way) async {
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask {
          guard number.isMultiple(of: 2) else { return !way.isTracking }
          return withObservationTracking {
            way.isTracking
          } onChange: {
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test(arguments: Way.allCases)
  func `is known for longer than a probe's registrar lasts`(way: Way) {
    for _ in 0..<10_000 { #expect(!way.isTracking) }
    #expect(
      withObservationTracking {
        way.isTracking
      } onChange: {
      }
    )
  }

  #if os(Linux) && (arch(x86_64) || arch(arm64))
  @Test func `is read from the thread's word where there is one`() {
    #expect(TrackingProbe.isWordFound)
  }
  #endif
}
