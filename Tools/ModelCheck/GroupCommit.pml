/*
 * Commits, their groups, and what readers see of them.
 *
 * Three threads commit, one asks for everything to be synchronized, one reads; the machine may lose its power, or
 * the process be killed, between any two steps; then the store is opened again and goes on. Beside each step stands
 * the function it models.
 *
 * Frame f of the log is bit f - 1 of a mask. What was written is in `cached`, as programs see it; what of that
 * the system still owes the disk is in `dirty`; what a power cut leaves is `durable`, and any part of `dirty`. A
 * synchronization that fails forgets what it owes: `dirty` is empty afterwards, and some of it never gets there.
 *
 *   -DRELAXED          commits do not wait for the disk (EngineOptions.Durability.relaxed)
 *   -DPROGRESS         nothing crashes, and nobody may wait or try again for ever
 *   -DPLANT_…          a planted fault; see Faults
 *
 * Steps that hold the tail's lock are one step here: nobody else looks at what they change meanwhile. Memory is
 * sequentially consistent here; the orderings of the atomics are not what is checked.
 */
#ifndef COMMITTERS
#define COMMITTERS 3
#endif
#define LATER_COMMITTERS 1
#define FRAMES (COMMITTERS + LATER_COMMITTERS)
#ifndef VIEWS
#define VIEWS 1
#endif

/* The tail (LogTail). */
byte appended;          /* sequence: the last commit appended */
byte taken;             /* the last that a leader has taken */
bool gatePoisoned;      /* gate == .poisoned */
byte carried[FRAMES + 1]; /* the durableEnd each frame carries */

/* The lead (LogWriter.lead). */
bool lead;              /* whether somebody has the lock */
bool failed;            /* Lead.failure */

/* Held through a synchronization (LogWriter.synchronizing), and whether one of the background's failed. */
bool synchronizing;
bool behindFailed;

/* StoreState. */
byte visible;
byte rowCount;          /* liveRowCount: each commit here inserts one row */
byte publication;
byte writtenEnd;
byte durableEnd;

/* The disk. */
byte cached;
byte dirty;
byte durable;
byte manifestEnd;       /* the durableEnd of the manifest that counts */

/* What was promised, and to whom. */
byte acknowledged;      /* the newest commit that a caller was told of */
byte answered;          /* how many callers were told of theirs, with the commits there were before */
byte synchronized;      /* the newest that a caller was told is on disk */
byte seen;              /* the newest that a reader saw */
byte found;             /* the newest that an opening found */

bool crashed;
bool powerFailed;
byte session;
byte running;
byte faultBudget = 1;

#define maximum(a, b) ((a) > (b) -> (a) : (b))
#define frames(count) ((1 << (count)) - 1)
#define bitOf(frame) (1 << ((frame) - 1))

/* What ends a process when all end: the youngest first, so that there is one order only. */
#define ended() crashed && _nr_pr == _pid + 1
#define alive() !crashed || _nr_pr == _pid + 1

/* Of some frames, any. */
inline addAny(from, to)
{
  i = 0;
  do
  :: i < FRAMES ->
    if
    :: from & (1 << i) -> if :: to = to | (1 << i) :: skip fi
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

inline lockSynchronization() { atomic { !synchronizing -> synchronizing = true } }
inline lockLead() { atomic { !lead -> lead = true } }

/* LogWriter.poison(_:_:) */
inline poison()
{
#ifndef PLANT_NO_POISON
  failed = true;
  gatePoisoned = true
#else
  skip
#endif
}

/* LogWriter.write(_:synchronizing:_:): the bytes. Each frame is a step, so a crash finds any part written. */
inline writeFrames(from, to)
{
  next = from;
  do
  :: next < to && !broken ->
    if
    :: atomic { next++; cached = cached | bitOf(next); dirty = dirty | bitOf(next) }
    :: atomic { faultBudget > 0 -> faultBudget--; broken = true; poison() }
    fi
  :: else -> break
  od;
  if
  :: !broken -> writtenEnd = maximum(writtenEnd, to)
  :: else
  fi
}

/* LogWriter.write(_:synchronizing:_:): the synchronization. */
inline synchronizeFile(to)
{
  if
  :: broken || durableEnd >= to
  :: !broken && durableEnd < to ->
#ifdef RELAXED
    lockSynchronization();
#ifndef PLANT_FAILURE_BEHIND_UNSEEN
    if :: behindFailed -> broken = true; poison() :: else fi;
#endif
#endif
    if
    :: broken
    :: !broken ->
      if
      :: d_step { durable = durable | dirty; dirty = 0; durableEnd = maximum(durableEnd, to) }
      :: atomic {
          faultBudget > 0 -> faultBudget--;
          broken = true;
          addAny(dirty, durable);
          dirty = 0;
          poison()
        }
      fi
    fi;
#ifdef RELAXED
    synchronizing = false
#endif
  fi
}

/* LogWriter.publish(_:) */
inline publish(to)
{
#ifndef PLANT_PUBLICATION_NOT_COUNTED
  publication++;
#endif
  rowCount = rowCount + (to - visible);
  visible = to;
#ifndef PLANT_PUBLICATION_NOT_COUNTED
  publication++
#else
  skip
#endif
}

/* LogWriter.write(_:synchronizing:_:) and publish(_:), of whatever was appended so far. */
inline leadWriting(synchronizing)
{
  /* LogTail.take() */
  d_step { first = taken; taken = appended; last = taken };
  broken = false;
#ifdef PLANT_PUBLISH_BEFORE_SYNC
  writeFrames(first, last);
  if :: !broken -> publish(last) :: else fi;
  if :: synchronizing -> synchronizeFile(last) :: else fi
#else
  writeFrames(first, last);
#ifndef PLANT_NO_SYNC
  if :: synchronizing -> synchronizeFile(last) :: else fi;
#endif
  if :: !broken -> publish(last) :: else fi
#endif
}

/* LogWriter.commit(_:) */
proctype Committer() provided (alive())
{
  byte sequence, first, last, next, i;
  bool broken;
  {
    /* LogTail.append(_:_:), under the tail's lock */
#ifndef PLANT_APPEND_WITHOUT_LOCK
    atomic {
      if
      :: gatePoisoned -> goto refused
      :: else -> appended++; sequence = appended; carried[sequence] = durableEnd
      fi
    }
#else
    sequence = appended + 1;
    appended = sequence;
    carried[sequence] = durableEnd;
#endif
    /* LogWriter.write(through:): whoever led may have written this commit, too */
#ifdef PLANT_FOLLOWER_BEFORE_SYNC
    if :: taken >= sequence -> goto told :: else fi;
#endif
    if :: visible >= sequence -> goto told :: else fi;
    lockLead();
    if
    :: visible >= sequence -> lead = false; goto told
    :: else
    fi;
#ifndef PLANT_NO_CHECK
    /* LogWriter.check(_:) */
    if
    :: failed -> lead = false; goto refused
    :: else
    fi;
#endif
#ifdef RELAXED
    leadWriting(false);
#else
    leadWriting(true);
#endif
#ifdef PLANT_LEAD_KEPT_ON_FAILURE
    if :: broken -> goto refused :: else fi;
#endif
    lead = false;
    if :: broken -> goto refused :: else fi;
told:
    atomic { acknowledged = maximum(acknowledged, sequence); answered++ };
refused:
    atomic { running--; sequence = 0; first = 0; last = 0; next = 0; broken = false }
  } unless { ended() }
}

/* StorageEngine.synchronize(): LogWriter.synchronize() */
proctype Synchronizer() provided (alive())
{
  byte first, last, next, i;
  bool broken;
  {
    lockLead();
    if
    :: failed -> lead = false
    :: else ->
      leadWriting(true);
      lead = false;
      if :: !broken -> synchronized = maximum(synchronized, last) :: else fi
    fi;
    atomic { running--; first = 0; last = 0; next = 0; broken = false }
  } unless { ended() }
}

#ifdef RELAXED
/* LogWriter.synchronizeBehind(), by the background */
proctype Background() provided (alive())
{
  byte end, i;
  bool broken;
  {
    lockLead();
    end = writtenEnd;
#ifdef PLANT_SYNC_BEHIND_COUNTS_LATER_WRITES
    lead = false;
    if
    :: !failed && durableEnd < end ->
      d_step { durable = durable | dirty; dirty = 0 };
      durableEnd = maximum(durableEnd, writtenEnd)
    :: else
    fi
#else
    if
    :: failed -> lead = false
    :: else ->
      lead = false;
      if
      :: durableEnd < end ->
        lockSynchronization();
        /* Others may write meanwhile: only what was written before counts as synchronized. */
        if
        :: d_step { durable = durable | dirty; dirty = 0 };
          durableEnd = maximum(durableEnd, end)
        :: atomic {
            faultBudget > 0 -> faultBudget--;
            addAny(dirty, durable);
            dirty = 0;
            broken = true; behindFailed = true
          }
        fi;
        synchronizing = false
      :: else
      fi;
      if
      :: broken -> lockLead(); poison(); lead = false
      :: else
      fi
    fi;
#endif
    atomic { running--; end = 0; broken = false }
  } unless { ended() }
}
#endif

/* ReadView.init(state:), twice: counts and commit belong together, and a later view is no older */
proctype Reader() provided (alive())
{
  byte before, sequence, count, earlier, views;
  {
    do
    :: views < VIEWS ->
again:
      before = publication;
      sequence = visible;
      count = rowCount;
      if
      :: before % 2 == 0 && publication == before -> skip
      :: else -> goto again
      fi;
      atomic {
        assert(count == sequence);
        assert(sequence >= earlier);
        earlier = sequence;
        seen = maximum(seen, sequence);
        views++
      }
    :: else -> break
    od;
    atomic { running--; before = 0; sequence = 0; count = 0; earlier = 0; views = 0 }
  } unless { ended() }
}

/* What was in memory is gone. */
inline forget()
{
  lead = false; failed = false; gatePoisoned = false; synchronizing = false; behindFailed = false;
  appended = 0; taken = 0; visible = 0; rowCount = 0; publication = 0;
  writtenEnd = 0; durableEnd = 0; running = 0
}

/* What ends the process, or the machine; or nothing does. */
proctype Crash()
{
  byte i;
  if
#ifndef PROGRESS
  :: skip ->
    if
    :: atomic { !crashed && running > 0 -> crashed = true; forget() }
    :: atomic {
        !crashed && running > 0 ->
        crashed = true; powerFailed = true;
        addAny(dirty, durable);
        dirty = 0;
        cached = durable;
        forget()
      }
    :: running == 0
    fi
#endif
  /* Nothing: then all must come to their ends. */
  :: skip -> running == 0
  fi
}

byte prefix, proven, i;

/* Recovery.run(), TornTail: the log ends before the first frame that is not valid, unless a later one, or the
   manifest, says that it was on disk. */
inline recover()
{
  atomic {
    prefix = 0;
    do
    :: prefix < FRAMES && (cached & bitOf(prefix + 1)) -> prefix++
    :: else -> break
    od;
    proven = manifestEnd;
    i = 1;
    do
    :: i <= FRAMES ->
      if :: cached & bitOf(i) -> proven = maximum(proven, carried[i]) :: else fi;
      i++
    :: else -> break
    od;
    i = 0;
    /* A store that a crash has hurt opens again: nothing proves that more was there. */
    assert(proven <= prefix);
    /* What was found before, or said to be on disk, is found again. */
    assert(prefix >= found);
    assert(prefix >= synchronized);
#ifndef RELAXED
    assert(prefix >= acknowledged && prefix >= answered);
    assert(prefix >= seen);
#else
    assert(powerFailed || (prefix >= acknowledged && prefix >= answered));
    assert(powerFailed || prefix >= seen);
#endif
  }
}

/* A crash between the steps of an opening. */
inline mayCrash()
{
  if
  :: skip
  :: atomic {
      cut ==  false -> cut = true; powerFailed = true;
      addAny(dirty, durable);
      dirty = 0;
      cached = durable;
      goto opening
    }
  fi
}

/* Recovery.repair(_:), LogWriter.witnessRecovery() */
inline repair()
{
  atomic {
    /* What is behind the end stays in a segment that takes no more; frames that come are others. */
    cached = cached & frames(prefix);
    durable = durable & frames(prefix);
#ifndef PLANT_REPAIR_DOES_NOT_REWRITE
    /* Written again: after a failed synchronization nobody owes the disk what the system still shows. */
    dirty = cached & ~frames(proven);
#else
    dirty = dirty & frames(prefix);
#endif
  };
#ifdef PLANT_WITNESS_BEFORE_SYNC
  manifestEnd = prefix;
  mayCrash();
#endif
  d_step { durable = durable | dirty; dirty = 0 };
  manifestEnd = prefix;
  found = prefix
}

inline begin(committers)
{
  atomic {
    forget();
    crashed = false; powerFailed = false;
    appended = prefix; taken = prefix; visible = prefix; rowCount = prefix;
    writtenEnd = prefix; durableEnd = prefix;
    acknowledged = prefix; answered = prefix; synchronized = prefix; seen = prefix;
    i = prefix + 1;
    do
    :: i <= FRAMES -> carried[i] = 0; i++
    :: else -> break
    od;
    i = 0;
    proven = 0;
    do
    :: running < committers -> run Committer(); running++
    :: else -> break
    od;
    if
    :: session == 0 ->
#ifdef SYNCHRONIZER
      run Synchronizer();
      running++;
#endif
#if VIEWS
      run Reader();
      running++
#endif
    :: else
    fi;
#ifdef RELAXED
    running++;
    run Background();
#endif
    run Crash()
  }
}

init
{
  bool cut;
  begin(COMMITTERS);
  /* When nobody runs any more; `crashed` ends them all. */
  (running == 0 || crashed) && _nr_pr == 1;
  session = 1;
opening:
  recover();
  mayCrash();
  repair();
  mayCrash();
  begin(LATER_COMMITTERS);
  (running == 0 || crashed) && _nr_pr == 1;
  recover()
}
