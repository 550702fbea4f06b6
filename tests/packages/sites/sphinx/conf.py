project = "Course"
extensions = ["loopscope.sphinx"]
