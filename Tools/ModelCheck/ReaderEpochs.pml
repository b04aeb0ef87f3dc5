/*
 * When files that compaction took out of the tables may be let go: ReaderEpochs.
 *
 * Readers look into a table and use what they find; somebody takes one object after the other out of it and retires
 * them; a compaction that begins waits until those who read before are gone. Beside each step stands the function it
 * models.
 *
 * Memory is sequentially consistent here, as the orderings ask for where it matters.
 */
#define READERS 2
#ifndef ROUNDS
#define ROUNDS 2
#endif
/* With a compaction that begins beside it there is one object, or the states would be too many. */
#ifdef DRAINER
#define OBJECTS 2
#define OTHERS 2
#else
#define OBJECTS 3
#define OTHERS 1
#endif

byte epoch;
/* The counters of a parity are spread over stripes: each reader here has one of its own. */
#define counter(parity, stripe) counters[(parity) * READERS + (stripe)]
byte counters[2 * READERS];

/* ReaderEpochs.Pending, and its lock. Sets are masks. */
bool pendingLock;
byte current, later;
byte parity = 2;        /* 2: none */

byte table;             /* the object that readers find */
byte freed;
bool reading[READERS];
byte began[READERS];
byte ended;

inline lock() { atomic { !pendingLock -> pendingLock = true } }
inline unlock() { pendingLock = false }

proctype Reader(byte stripe)
{
  byte rounds, seen, object, side;
  do
  :: rounds < ROUNDS ->
    /* ReaderEpochs.enter() */
again:
    seen = epoch;
    side = seen & 1;
    counter(side, stripe)++;
#ifndef PLANT_EPOCH_NOT_READ_AGAIN
    if
    :: epoch == seen
    :: else -> counter(side, stripe)--; goto again
    fi;
#endif
    d_step { reading[stripe] = true; began[stripe]++ };
    object = table;
    assert(!(freed & (1 << object)));
    /* What was found is used, and used again. */
    assert(!(freed & (1 << object)));
    /* ReaderEpochs.leave(_:) */
    d_step { reading[stripe] = false; counter(side, stripe)--; rounds++; seen = 0; object = 0; side = 0 }
  :: else -> break
  od;
  ended++
}

/* ReaderEpochs.isIdle(_:): stripe by stripe. */
inline lookWhetherIdle(side)
{
  idle = true;
  stripe = 0;
  do
  :: stripe < READERS && idle -> idle = (counter(side, stripe) == 0); stripe++
  :: else -> break
  od;
  stripe = 0
}

/* ReaderEpochs.collect() */
inline collect()
{
  lock();
  do
  :: parity < 2 ->
#ifdef PLANT_FREED_WHILE_READ
    idle = true;
#else
    lookWhetherIdle(parity);
#endif
    if
    :: idle -> toFree = toFree | current; current = 0; parity = 2
    :: else -> break
    fi
  :: parity == 2 && later == 0 -> break
  :: parity == 2 && later != 0 ->
    current = later; later = 0;
    atomic { parity = epoch & 1; epoch++ }
  od;
  unlock();
  freed = freed | toFree;
  toFree = 0
}

/* Compactor.retire(_:), ReaderEpochs.retire(_:) */
proctype Retirer()
{
  byte toFree, stripe, object;
  bool idle;
  do
  :: object < OBJECTS - 1 ->
#ifdef PLANT_RETIRED_BEFORE_TAKEN_OUT
    lock();
    later = later | (1 << object);
    unlock();
    collect();
    table = object + 1;
#else
    table = object + 1;
    lock();
    later = later | (1 << object);
    unlock();
    collect();
#endif
    object++
  :: else -> break
  od;
  ended++;
  /* Nothing waits for ever: once nobody reads, a look lets go of all. */
  ended == READERS + OTHERS;
  collect();
  collect();
  assert(freed == (1 << (OBJECTS - 1)) - 1)
}

/* ReaderEpochs.drain(), as a compaction that begins calls it */
proctype Drainer()
{
  byte toFree, stripe, side, patience;
  bool idle, wereReading[READERS];
  byte hadBegun[READERS];
  d_step {
    wereReading[0] = reading[0]; hadBegun[0] = began[0];
    wereReading[1] = reading[1]; hadBegun[1] = began[1]
  };
  collect();
  lock();
  if
  :: parity < 2 -> unlock()
  :: else ->
    atomic { side = epoch & 1; epoch++ };
    do
    :: patience < 2 ->
      lookWhetherIdle(side);
#ifdef PLANT_DRAIN_LOOKS_AT_ONE_STRIPE
      idle = (counter(side, 0) == 0);
#endif
      if
      :: idle ->
        /* Nobody reads any more who read when this was called. */
        assert(!(wereReading[0] && reading[0] && began[0] == hadBegun[0]));
        assert(!(wereReading[1] && reading[1] && began[1] == hadBegun[1]));
        break
      :: else -> patience++
      fi
    :: else -> parity = side; break
    od;
    unlock()
  fi;
  d_step {
    wereReading[0] = false; hadBegun[0] = 0; wereReading[1] = false; hadBegun[1] = 0;
    side = 0; idle = false; patience = 0;
    ended++
  }
}

init
{
  atomic { run Reader(0); run Reader(1); run Retirer() }
#ifdef DRAINER
  run Drainer()
#endif
}
