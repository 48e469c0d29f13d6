package timeline

import "github.com/getdwell/dwell/recording"

// Rules that are known by name elsewhere.
const (
	RuleIdle      = "idle"          // a worker waits for work: nobody's request waits with it
	RuleFutex     = "futex"         // nothing is known but that it waits for another thread
	RuleFutexWord = "futex-word"    // the word is that of CPython's interpreter lock
	RuleOwner     = "mutex-owner"   // glibc's mutex says who has it
	RuleGiveBack  = "give-back"     // whoever ends such waits waits there too, one for one
	RuleShared    = "shared-result" // whoever ends such waits gets for another request what they are for
	RuleVMThread  = "vm-thread"     // the JVM stopped its threads and let them go again
	RuleGC        = "vm-gc"         // the same, and its collector ran meanwhile
	RuleNoConn    = "no-connection" // a read or write that moved no bytes on any connection
	RuleRubyGVL   = "ruby-gvl"      // it waits until another thread of Ruby lets it run
	RuleRubyYield = "ruby-gvl-turn" // it has let another thread of Ruby run, and waits until that does
	RulePageFault = "page-fault"
	RuleDisk      = "disk"
	RuleSyscall   = "syscall"
)

// Runtimes that rules are for, by what their frames look like.
const (
	anyRuntime = -1
	jvm        = int(recording.RuntimeJVM)
	python     = int(recording.RuntimePython)
	ruby       = int(recording.RuntimeRuby)
	golang     = int(recording.RuntimeGo)
	node       = int(recording.RuntimeNode)
)

// waitRule tells from a stack what a wait is for. Frames must occur in that order from
// the innermost on, others may lie between; the first must come before any frame of
// the application. A frame is a name, which may lack packages before it and may hold
// one "*"; "|" separates alternatives; "NAME in FILE" asks for the end of the source
// file's path, for machine code for the beginning of the module's name; "+" asks for
// the very next frame, "^" for the innermost of a language runtime. The first rule that
// fits counts.
type waitRule struct {
	code    string
	runtime int
	cause   Cause
	frames  []string
}

// waitRules are the rules, in order.
func waitRules() []waitRule {
	return append(append(append(jvmRules(), pythonRules()...), rubyRules()...), nativeRules()...)
}

func jvmRules() []waitRule {
	return []waitRule{
		{"jvm-safepoint", jvm, CauseGC, []string{"SafepointSynchronize::block|VMThread::execute|VMThread::wait_until_executed"}},
		{"jvm-allocation", jvm, CauseGC, []string{"GCLocker::stall_until_clear|ZPageAllocator::alloc_page_stall|ShenandoahHeap::allocate_memory|ShenandoahControlThread::handle_alloc_failure*"}},
		{"jvm-heap-lock", jvm, CauseGC, []string{"GenCollectedHeap::mem_allocate_work|G1CollectedHeap::attempt_allocation*|G1CollectedHeap::do_collection_pause|ParallelScavengeHeap::mem_allocate|VM_GC_Operation::doit_prologue|CollectedHeap::satisfy_failed_metadata_allocation"}},

		{"jvm-monitor", jvm, CauseLock, []string{"ObjectMonitor::enter|ObjectMonitor::EnterI|ObjectMonitor::ReenterI|ObjectSynchronizer::enter"}},
		{"jvm-monitor", jvm, CauseLock, []string{"_complete_monitor_locking*|monitorenter*|InterpreterRuntime::monitorenter|Runtime1::monitorenter|SharedRuntime::complete_monitor_locking*"}},
		{"jvm-class-init", jvm, CauseLock, []string{"InstanceKlass::initialize*|InstanceKlass::link_class*|ObjectLocker::*"}},

		{RuleIdle, jvm, CauseCondition, []string{"Reference.waitForReferencePendingList|ReferenceQueue.remove*"}},
		{RuleIdle, jvm, CauseCondition, []string{"LockSupport.park*|Object.wait*", "ThreadPoolExecutor.getTask|ForkJoinPool.awaitWork|TimerThread.mainLoop|QueuedThreadPool*.idleJobPoll|ReservedThreadExecutor*.reservedWait|EnhancedQueueExecutor$PoolThreadNode.park|SingleThreadEventExecutor.takeTask|SynchronousDispatcher.run|ContainerBackgroundProcessor*.run"}},
		// These run tasks as well: whatever a task waits for has them on its stack, further out.
		{RuleIdle, jvm, CauseCondition, []string{"LockSupport.park*|Unsafe.park", "+ForkJoinPool.scan|ForkJoinPool.runWorker|EnhancedQueueExecutor$ThreadBody.run"}},
		{RuleIdle, jvm, CauseCondition, []string{"CompileQueue::get|CompileBroker::possibly_add_compiler_threads|GangWorker::*|WorkerThread::run|VMThread::*|ServiceThread::*|MonitorDeflationThread::*|WatcherThread::*|G1ServiceThread::*|ConcurrentGCThread::*|ConcurrentG1*|G1Concurrent*|G1YoungRemSet*|Z*::run_thread|Shenandoah*::run_service|os::signal_wait|AttachListener::*|signal_thread_entry"}},
		{"jvm-join", jvm, CauseCondition, []string{"Object.wait*|LockSupport.park*", "Thread.join"}},
		{"jvm-sleep", jvm, CauseSleep, []string{"Thread.sleep*"}},
		{"jvm-sleep", jvm, CauseSleep, []string{"Object.wait*", "+TimeUnit.timedWait"}},

		{"jvm-lock", jvm, CauseLock, []string{"LockSupport.park*", "ReentrantLock.lock*|ReentrantLock.tryLock|ReentrantReadWriteLock$ReadLock.*|ReentrantReadWriteLock$WriteLock.*|StampedLock.*"}},
		{"jvm-lock", jvm, CauseLock, []string{"AbstractQueuedSynchronizer.acquire|AbstractQueuedSynchronizer.acquireQueued|AbstractQueuedSynchronizer.parkAndCheckInterrupt|AbstractQueuedLongSynchronizer.acquire*", "+ConditionObject.await*|AbstractQueuedSynchronizer$ConditionObject.await*"}},

		{"jvm-semaphore", jvm, CausePool, []string{"Semaphore.acquire*|Semaphore.tryAcquire"}},
		{"jvm-pool", jvm, CausePool, []string{"LockSupport.park*|Object.wait*", "HikariPool.getConnection|AbstractConnPool*.getPoolEntryBlocking|ConnPoolByRoute.getEntryBlocking|StrictConnPool.lease|LaxConnPool.lease|InternalExecRuntime.acquireEndpoint|GenericObjectPool.borrowObject|GenericKeyedObjectPool.borrowObject|tomcat.jdbc.pool.ConnectionPool.borrowConnection|BasicResourcePool.awaitAvailable|DruidDataSource.takeLast|DruidDataSource.pollLast|agroal.pool.ConnectionPool.handlerFromSharedCache|oracle.ucp*.getConnection|ServerSessionPool.get|ConcurrentPool.get"}},

		{"jvm-barrier", jvm, CauseCondition, []string{"CountDownLatch.await|CyclicBarrier.await|CyclicBarrier.dowait|Phaser.*|Exchanger.*"}},
		{"jvm-future", jvm, CauseCondition, []string{"LockSupport.park*|Object.wait*", "FutureTask.get|FutureTask.awaitDone|CompletableFuture.*|CompletableFuture$Signaller.block|ForkJoinTask.*|Future.get|BasicFuture.get|DefaultPromise.await*|AbstractFuture.get"}},
		{"jvm-queue", jvm, CauseCondition, []string{"LockSupport.park*", "ArrayBlockingQueue.*|LinkedBlockingQueue.*|LinkedBlockingDeque.*|PriorityBlockingQueue.*|DelayQueue.*|SynchronousQueue.*|LinkedTransferQueue.*"}},
		{"jvm-condition", jvm, CauseCondition, []string{"AbstractQueuedSynchronizer$ConditionObject.await*|ConditionObject.await*|Object.wait*"}},
		{"jvm-shared", jvm, CauseCondition, []string{"AbstractQueuedSynchronizer.acquireShared*|AbstractQueuedSynchronizer.tryAcquireShared*|AbstractQueuedSynchronizer.doAcquireShared*"}},
		{"jvm-lock", jvm, CauseLock, []string{"AbstractQueuedSynchronizer.acquire*|AbstractQueuedSynchronizer.doAcquire*"}},
		{"jvm-park", jvm, CauseCondition, []string{"LockSupport.park*|Unsafe.park"}},
	}
}

func pythonRules() []waitRule {
	return []waitRule{
		{"py-gil", python, CauseInterpreterLock, []string{"take_gil|drop_gil"}},
		{"py-gil", python, CauseInterpreterLock, []string{"pthread_mutex_lock|__pthread_mutex_lock", "+pthread_cond_*", "+PyEval_*|PyGILState_Ensure|* in python|* in libpython"}},
		{"py-gil", python, CauseInterpreterLock, []string{"pthread_cond_*|pthread_mutex_lock|__pthread_mutex_lock", "+PyEval_*|PyGILState_Ensure|* in python|* in libpython"}},

		{RuleIdle, python, CauseCondition, []string{"^_worker in concurrent/futures/thread.py|worker in multiprocessing/pool.py"}},
		{RuleIdle, python, CauseCondition, []string{"wait in threading.py", "+handler_thread in waitress/task.py"}},
		{RuleIdle, python, CauseCondition, []string{"wait in threading.py", "+get in queue.py", "+run in cheroot/workers/threadpool.py|_process_connections_until_interrupted in cheroot/workers/threadpool.py|run in anyio/_backends/_asyncio.py|_worker in concurrent/futures/thread.py|worker in multiprocessing/pool.py"}},
		{RuleIdle, python, CauseCondition, []string{"get in multiprocessing/queues.py|recv_bytes in multiprocessing/connection.py", "worker in multiprocessing/pool.py"}},

		{"py-pool", python, CausePool, []string{"wait in threading.py|get in queue.py", "_do_get in sqlalchemy/pool/impl.py|_get_conn in urllib3/connectionpool.py|get_connection in redis/connection.py|getconn in psycopg_pool/pool.py|acquire in DBUtils/PooledDB.py|connection in dbutils/pooled_db.py|acquire in cx_Oracle|checkout in pymongo/pool.py|_get_conn in pymongo/pool.py|checkout in pymongo/synchronous/pool.py|wait_for_connection in httpcore/_sync/connection_pool.py"}},
		{"py-semaphore", python, CausePool, []string{"wait in threading.py", "acquire in threading.py"}},

		{"py-join", python, CauseCondition, []string{"_wait_for_tstate_lock in threading.py|join in threading.py"}},
		{"py-barrier", python, CauseCondition, []string{"wait in threading.py", "_wait in threading.py"}},
		{"py-future", python, CauseCondition, []string{"wait in threading.py", "result in concurrent/futures/_base.py|exception in concurrent/futures/_base.py|wait in concurrent/futures/_base.py"}},
		{"py-event", python, CauseCondition, []string{"wait in threading.py", "+wait in threading.py"}},
		{"py-queue", python, CauseCondition, []string{"wait in threading.py", "+get in queue.py|put in queue.py"}},
		{"py-queue", python, CauseCondition, []string{"* in _queue.cpython"}},
		{"py-condition", python, CauseCondition, []string{"wait in threading.py"}},

		{"py-lock", python, CauseLock, []string{"PyThread_acquire_lock_timed|PyThread_acquire_lock|_PyMutex_LockTimed|_PyMutex_Lock|PyMutex_Lock"}},
		{"py-lock", python, CauseLock, []string{"sem_wait|sem_timedwait|sem_clockwait", "+* in python|* in libpython"}},
	}
}

// rubyRules go by the innermost method, which is what waits: between it and a method of
// the application may lie others, written in C, that wait for nothing themselves.
func rubyRules() []waitRule {
	return []waitRule{
		{RuleRubyGVL, ruby, CauseInterpreterLock, []string{"gvl_acquire*|thread_sched_to_running*|thread_sched_wait_running_turn|blocking_region_end"}},
		{RuleRubyYield, ruby, CauseInterpreterLock, []string{"rb_thread_schedule*|gvl_yield|thread_sched_yield"}},
		{"ruby-gvl-guard", ruby, CauseInterpreterLock, []string{"pthread_mutex_lock|__pthread_mutex_lock", "+rb_native_mutex_lock"}},

		{RuleIdle, ruby, CauseCondition, []string{"^Thread::Mutex#sleep", "+Thread::ConditionVariable#wait", "+Puma::ThreadPool#spawn_thread in puma/thread_pool.rb|spawn_thread in puma/thread_pool.rb"}},
		{RuleIdle, ruby, CauseCondition, []string{"^Thread::ConditionVariable#wait", "+Puma::ThreadPool#spawn_thread in puma/thread_pool.rb|spawn_thread in puma/thread_pool.rb"}},
		{RuleIdle, ruby, CauseCondition, []string{"^Thread::Queue#pop", "+RubyThreadPoolExecutor::Worker#create_worker|create_worker in concurrent/executor/ruby_thread_pool_executor.rb"}},
		{"ruby-pool", ruby, CausePool, []string{"^Thread::Mutex#sleep|Thread::ConditionVariable#wait|Thread::SizedQueue#pop", "ConnectionPool::TimedStack#pop|ConnectionPool::Queue#poll|ConnectionPool::Queue#wait_poll|Sequel::ThreadedConnectionPool#acquire|Sequel::TimedQueueConnectionPool#acquire|Mongo::Server::ConnectionPool#check_out|pop in connection_pool/timed_stack.rb|wait_poll in connection_pool/queue.rb|poll in connection_pool/queue.rb"}},
		{"ruby-lock", ruby, CauseLock, []string{"^Thread::Mutex#lock|Thread::Mutex#synchronize|Monitor#enter|Monitor#synchronize"}},
		{"ruby-queue", ruby, CauseCondition, []string{"^Thread::Queue#pop|Thread::SizedQueue#push|Thread::SizedQueue#pop"}},
		{"ruby-join", ruby, CauseCondition, []string{"^Thread#join|Thread#value"}},
		{"ruby-condition", ruby, CauseCondition, []string{"^Thread::ConditionVariable#wait|Thread::Mutex#sleep|Monitor#wait_for_cond"}},
		{"ruby-sleep", ruby, CauseSleep, []string{"^Kernel#sleep"}},

		{"ruby-lock", ruby, CauseLock, []string{"rb_mutex_lock|do_mutex_lock"}},
		{"ruby-queue", ruby, CauseCondition, []string{"queue_do_pop|rb_szqueue_push"}},
		{"ruby-condition", ruby, CauseCondition, []string{"rb_mutex_sleep|rb_condvar_wait"}},
		{"ruby-sleep", ruby, CauseSleep, []string{"rb_thread_sleep*|rb_thread_wait_for"}},
	}
}

func nativeRules() []waitRule {
	return []waitRule{
		{RuleIdle, golang, CauseCondition, []string{"runtime.stopm|runtime.findRunnable|runtime.mcall|runtime.park_m|runtime.notetsleep*|runtime.gcBgMarkWorker"}},
		{RuleGoPool, golang, CausePool, []string{"database/sql.(*DB).conn"}},
		{"go-runtime-lock", golang, CauseLock, []string{"runtime.lock2|runtime.lock|runtime.lockWithRank"}},
		{RuleIdle, node, CauseCondition, []string{"uv_cond_wait|pthread_cond_*", "worker|node::*PlatformWorkerThread|node::WorkerThreadsTaskRunner::*|v8::platform::*|DelayedTaskScheduler::*"}},
		{"v8-gc", node, CauseGC, []string{"v8::internal::Heap::CollectGarbage|v8::internal::Heap::PerformGarbageCollection|v8::internal::Heap::CollectAllGarbage|v8::internal::Heap::StartIncrementalMarking|v8::internal::Heap::EnsureSweepingCompleted"}},
		{"js-atomics", node, CauseCondition, []string{"v8::internal::FutexEmulation::*|Builtins_AtomicsWait"}},

		{"mutex", anyRuntime, CauseLock, []string{"__lll_lock_wait*|pthread_mutex_lock|__pthread_mutex_lock|pthread_mutex_timedlock|pthread_mutex_clocklock|__pthread_mutex_lock_full|pthread_spin_lock"}},
		{"rwlock", anyRuntime, CauseLock, []string{"pthread_rwlock_*|__pthread_rwlock_*"}},
		{"join", anyRuntime, CauseCondition, []string{"pthread_join|pthread_timedjoin_np|pthread_clockjoin_np|__pthread_clockjoin_ex"}},
		{"condition", anyRuntime, CauseCondition, []string{"pthread_cond_*|__pthread_cond_*|sem_wait|sem_timedwait|sem_clockwait|__new_sem_wait*"}},
	}
}

// syscallRule tells from a system call alone what a wait is for.
type syscallRule struct {
	syscalls []string
	cause    Cause
}

// syscallRules are for waits that no stack tells of.
var syscallRules = []syscallRule{
	{[]string{"nanosleep", "clock_nanosleep"}, CauseSleep},
	{[]string{"fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"}, CauseDisk},
	{[]string{"flock", "fcntl"}, CauseLock},
	{[]string{"getrandom", "msgrcv", "msgsnd", "semop", "semtimedop", "mq_timedreceive", "mq_timedsend"}, CauseIPC},
}
